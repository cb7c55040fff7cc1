# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl with the real branchd, which samples this machine while a program of known name is busy."""

import json
import os
import subprocess
import sys
import tempfile
import time

from support import SKIPPED, VIEWS, check, finish, one_line, run

branchd = os.path.abspath(sys.argv[2])
BUSY = "while :; do :; done"


def start(folder):
    """The daemon, once it answers; or skips where it may not sample."""
    config = os.path.join(folder, "branchd.conf")
    socket = os.path.join(folder, "io.branchd")
    with open(config, "w", encoding="ascii") as file:
        file.write("[Store]\nWindowSec=2s\n")
    daemon = subprocess.Popen([branchd, "--config", config, "--state-directory", folder, "--socket",
                               socket], stderr=subprocess.PIPE)
    for _ in range(300):
        status, out, _ = run("--socket", socket, "status", "--json")
        if status == 0 and json.loads(out)["sampling"]["running"]:
            return daemon, socket
        if status == 0 or daemon.poll() is not None:
            break
        time.sleep(0.1)
    daemon.terminate()
    print("skipped: branchd does not sample here:", daemon.communicate()[1].decode())
    sys.exit(SKIPPED)


def document(socket, *arguments):
    status, out, err = run("--socket", socket, *arguments, "--json")
    check(status == 0, arguments, status, err)
    return json.loads(out) if status == 0 else {}


def wait_for_windows(socket, n):
    """So many that are closed and whole."""
    for _ in range(600):
        closed = [w for w in document(socket, "windows")["windows"] if not w["open"]]
        if len(closed) > n:
            return closed
        time.sleep(0.1)
    check(False, "no windows come:", closed)
    return closed


def check_windows(socket, windows, pid):
    last = windows[-1]
    top = document(socket, "top", last["id"], "-n", "0")
    check(top["windows"] == [last], top["windows"], "is not", last)
    check(sum(row["self"] for row in top["rows"]) == top["totals"]["samples"] == last["samples"], last)
    both = document(socket, "top", f"{windows[-2]['id']}..{last['id']}")
    check(both["totals"]["samples"] == last["samples"] + windows[-2]["samples"], both["totals"])
    at = document(socket, "top", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(last["start"] + 1)))
    check(at["windows"] == [last], "by its time:", at["windows"])
    mine = document(socket, "top", last["id"], "--pid", pid, "--by", "process")
    check([row["pid"] for row in mine["rows"]] == [pid], "busy is not seen:", mine["rows"])
    check(mine["totals"]["samples"] > 0, mine["totals"])


def check_commands(socket, pid):
    for by in VIEWS:
        status, out, err = run("--socket", socket, "top", "--by", by)
        check(status == 0 and out and not err, by, status, err)
    status, out, err = run("--socket", socket, "dump", "@-1", "--pid", pid)
    check(status == 0 and f" {pid} " in out, "dump", status, err)
    check(document(socket, "top", "@0")["windows"][0]["open"], "@0 is not open")
    status, out, err = run("--socket", socket, "top", "4711000")
    check(status == 1 and not out and one_line(err), status, err)
    status, out, err = run("--socket", socket, "status")
    check(status == 0 and "sampling" in out, status, err)


with tempfile.TemporaryDirectory() as state:
    process, path = start(state)
    with subprocess.Popen(["sh", "-c", BUSY]) as busy:
        check_windows(path, wait_for_windows(path, 3), busy.pid)
        check_commands(path, busy.pid)
        busy.kill()
    process.terminate()
    process.communicate()
    check(process.returncode == 0, "branchd ended with", process.returncode)
finish()
