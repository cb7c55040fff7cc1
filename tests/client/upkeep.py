# SPDX-License-Identifier: LGPL-2.1-or-later
"""vacuum and verify, with the store and the server of the daemon.

upkeep.py BRANCHCTL SERVE_WINDOWS
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from harness import check, finish, one_line, run

N = 14


@contextlib.contextmanager
def served(place):
    """Asks the daemon's code on the database in that folder, of N windows where it is new."""
    socket = os.path.join(place, "socket")
    with subprocess.Popen([sys.argv[2], socket, os.path.join(place, "branchd.db"), "busy", str(N)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        check(server.stdout.readline() == b"ready\n", "no server")
        yield lambda *arguments: run("--socket", socket, *arguments)
        server.stdin.close()
        server.stdout.read()


def document(ask, *arguments, status=0):
    got, out, err = ask(*arguments, "--json")
    check(got == status and not err, arguments, got, err)
    return json.loads(out)


def ids(ask):
    return [w["id"] for w in document(ask, "windows")["windows"]]


def check_vacuum(ask):
    status, out, err = ask("verify")
    check(status == 0 and not err and out.startswith(f"all is well: {N} windows, "), status, out, err)
    check(ask("mark", "kept", "3")[0] == 0, "a mark")
    status, out, err = ask("vacuum", "--time", "80s")
    check(status == 0 and not err and out.startswith("removed 4 windows and freed "), status, out, err)
    check(ids(ask) == [3, *range(6, N + 1)], ids(ask))
    before = document(ask, "verify")
    check(before["found"] == 0 and before["whole"] and before["windows"] == N - 4, before)
    size = before["bytes"] * 3 // 4
    done = document(ask, "vacuum", f"--size={size}")
    check(0 < done["bytes"] <= size and done["freed_bytes"] == before["bytes"] - done["bytes"], done, before)
    left = ids(ask)
    check(left[0] == 3 and left[-1] == N and len(left) == N - 4 - done["windows"] > 2, left)
    document(ask, "vacuum", "--size", "1", "--time", "1h")
    check(ids(ask) == [3, N], "the marked and the newest one", ids(ask))
    check(document(ask, "verify")["found"] == 0, "it is sound")


def check_damage(place):
    path = os.path.join(place, "branchd.db")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE stack_count SET samples = samples + 1 WHERE window = 3")
        db.execute("DELETE FROM place WHERE id = (SELECT max(place) FROM stack_count WHERE window = ?)", (N,))
        db.commit()
    with served(place) as ask:
        status, out, err = ask("verify")
        lines = out.splitlines()
        check(status == 1 and not err, status, err)
        check(any(line.startswith("window 3: its stacks add up to ") for line in lines), out)
        check(any(line.startswith("table stack_count: ") and "of place that are not there" in line for line in lines), out)
        check(lines[-1].startswith("damaged: "), out)
        report = document(ask, "verify", status=1)
        check(report["found"] == len(report["problems"]) == len(lines) - 1, report)
        check(not any(name.startswith("branchd.db.") or "damaged" in name for name in os.listdir(place)), os.listdir(place))


def check_refusals():
    for arguments in (["vacuum"], ["vacuum", "--size", "many"], ["vacuum", "--size", "0"], ["vacuum", "--size", "-1"],
                      ["vacuum", "--size", "1Q"], ["vacuum", "--size", "1e40"], ["vacuum", "--time", "0s"],
                      ["vacuum", "--time", "soon"], ["vacuum", "--time", "1h", "3"], ["verify", "x"],
                      ["verify", "--size", "1M"], ["top", "--size", "1M"], ["vacuum", "--since", "-1h"]):
        status, out, err = run("--socket", "/nonexistent", *arguments)
        check(status == 2 and not out and one_line(err), arguments, status, out, err)
    for arguments in (["vacuum", "--size", "1M"], ["verify"]):
        status, out, err = run("--socket", "/nonexistent", *arguments)
        check(status == 1 and not out and one_line(err), arguments, status, out, err)


check_refusals()
with tempfile.TemporaryDirectory() as folder:
    with served(folder) as asked:
        check_vacuum(asked)
    check_damage(folder)
finish()
