# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl on a database of version 4: what it shows is what the branchctl of that version showed.

upgrade.py BRANCHCTL SERVE_WINDOWS VERSION_4_SQL VERSION_4_TOP
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from harness import check, finish, run

SQL, EXPECTED = sys.argv[3:]


def make_database(path):
    with open(SQL, encoding="utf-8") as sql, contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(sql.read())


def read_json(socket, *arguments):
    status, out, err = run("--socket", socket, *arguments, "--json")
    check(status == 0 and not err, arguments, status, err)
    return json.loads(out)


def check_top(socket):
    with open(EXPECTED, encoding="utf-8") as file:
        expected = json.load(file)
    for report in expected:
        rows = 4 if report["by"] in ("stack", "stream", "branch-site", "block") else 8
        full = ["--depth", "full"] if report["by"] == "stream" else []
        found = read_json(socket, "top", "1..5", "-n", rows, "--by", report["by"], *full)
        check(found["rows"], "nothing by", report["by"])
        for counter in set(found["totals"]) - set(report["totals"]):  # of later versions
            check(found["totals"].pop(counter) == 0, counter, "in a database that does not know it")
        for member in {*report, *found}:
            check(found.get(member) == report.get(member), "by", report["by"], member, "differs:",
                  found.get(member), "was", report.get(member))
    check(len(expected) == 8, len(expected), "views")


def check_diff(socket):
    """Diffs by function are made from counts that the old version wrote for that."""
    whole = read_json(socket, "diff", "1..2", "3..5", "--all")
    functions = read_json(socket, "diff", "1..2", "3..5", "--all", "--by", "function")
    for member in "functions", "old", "new", "old_totals", "new_totals":
        check(whole[member] == functions[member], member, "differs in the diff by function")
    check(functions["functions"], "a diff without functions")


with tempfile.TemporaryDirectory() as folder:
    database, socket_path = os.path.join(folder, "branchd.db"), os.path.join(folder, "socket")
    make_database(database)
    with subprocess.Popen([sys.argv[2], socket_path, database, "idle", "0"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        check(server.stdout.readline() == b"ready\n", "no server")
        check_top(socket_path)
        check_diff(socket_path)
        server.stdin.close()
        server.stdout.read()
    with contextlib.closing(sqlite3.connect(database)) as db:
        check(db.execute("PRAGMA user_version").fetchone() == (9,), "the database is not of version 9")
finish()
