# SPDX-License-Identifier: LGPL-2.1-or-later
"""SQL over the documented views gives the numbers of branchctl top --json, and the questions of docs/schema.md have answers.

sql_views.py BRANCHCTL SERVE_WINDOWS SCHEMA_MD
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from harness import check, finish, run

WINDOWS = 14
SERVE, PAGE = sys.argv[2:]
# What the made-up windows have instead of what the questions name.
NAMES = {"'nginx'": "'worker'", "'nginx.service'": "'some-service-1.service'", "4711": "1007",
         "'memcpy'": "(SELECT name FROM function WHERE id = (SELECT function FROM place WHERE id ="
                     " (SELECT place FROM stack_count WHERE window = (SELECT max(id) FROM window) AND"
                     " caller > 0)))",
         "date('now', 'localtime')": "'9999'"}
VIEWS = (("object", "objects"), ("process", "processes"), ("unit", "units"), ("comm", "names"),
         ("container", "containers"))
EMPTY = "without symbols"  # the made-up code has all


def top(path, *arguments):
    status, out, err = run("--socket", path, "top", *arguments, "--json", "-n", 0)
    check(status == 0, arguments, status, err)
    return json.loads(out)


def counted(rows, *keys):
    """By the names in a row: the sums of its numbers. Names may be equal where places are not."""
    sums = {}
    for row in rows:
        names = tuple(row[:-len(keys)])
        sums[names] = [a + b for a, b in zip(sums.get(names, [0] * len(keys)), row[-len(keys):])]
    return {names: numbers for names, numbers in sums.items() if any(numbers)}


def compare(path, db, options, where):
    """The views by function, object, process, comm and unit."""
    expected = {
        "function": ("SELECT function, object, sum(self), sum(total) FROM function_totals",
                     ["symbol", "object", "self", "total"]),
        "object": ("SELECT object, sum(self) FROM function_samples", ["object", "self"]),
        "process": ("SELECT pid, comm, sum(self), sum(self) FROM function_samples", ["pid", "comm", "self", "total"]),
        "comm": ("SELECT comm, sum(self), sum(self) FROM function_samples", ["comm", "self", "total"]),
        "unit": ("SELECT unit, sum(self), sum(self) FROM function_samples", ["unit", "self", "total"]),
    }
    for by, (sql, members) in expected.items():
        report = top(path, "3..%d" % WINDOWS, "--by", by, *options)
        numbers = [member for member in members if member in ("self", "total")]
        columns = ", ".join(str(i + 1) for i in range(len(members) - len(numbers)))
        found = db.execute("%s WHERE window >= 3 %s GROUP BY %s" % (sql, where, columns)).fetchall()
        want = counted(([row[member] for member in members] for row in report["rows"]), *numbers)
        check(want and counted(found, *numbers) == want, "by", by, options, "SQL has other numbers")
        samples = db.execute("SELECT sum(self) FROM function_samples WHERE window >= 3 " + where).fetchone()[0]
        check(report["totals"]["samples"] == samples, "by", by, options, "another total")


def compare_others(path, db):
    report = top(path, "3..%d" % WINDOWS, "--by", "branch-site")
    sums = db.execute("SELECT count(*), sum(taken), sum(mispredicted) FROM (SELECT sum(taken) AS taken,"
                      " sum(mispredicted) AS mispredicted FROM top_branches WHERE window >= 3"
                      " GROUP BY origin_object, origin_offset, target_object, target_offset)").fetchone()
    rows = report["rows"]
    check(rows and sums == (len(rows), sum(row["count"] for row in rows), sum(row["mispredicted"] for row in rows)),
          "branches:", sums)
    for by, member in ("unit", "unit"), ("comm", "comm"), ("process", "pid"):
        report = top(path, "3..%d" % WINDOWS, "--by", by, "--mispredicted")
        found = db.execute("SELECT %s, sum(mispredicted), sum(predicted) FROM top_branches JOIN processes USING (process)"
                           " WHERE window >= 3 GROUP BY 1 HAVING sum(mispredicted) > 0" % member).fetchall()
        want = counted(([row[member], row["mispredicted"], row["predicted"]] for row in report["rows"]), 0, 0)
        check(want and counted(found, 0, 0) == want, "mispredictions by", by)
    report = top(path, "3..%d" % WINDOWS, "--by", "block")
    sums = db.execute("SELECT count(*), sum(runs) FROM (SELECT sum(runs) AS runs FROM top_blocks WHERE window >= 3"
                      " GROUP BY object, first_offset, last_offset)").fetchone()
    check(report["rows"] and sums == (len(report["rows"]), sum(row["count"] for row in report["rows"])),
          "blocks:", sums)
    for name, value in db.execute("SELECT name, sum(value) FROM counters WHERE window >= 3 GROUP BY 1"):
        check(report["totals"].get(name, value) == value, "counter", name, value)


def ask(db):
    with open(PAGE, encoding="utf-8") as file:
        questions = re.findall(r"^([^\n]+\?)[^\n]*\n\n```sql\n(.*?)```", file.read(), re.M | re.S)
    check(len(questions) == 12, len(questions), "questions")
    for question, sql in questions:
        for name, other in NAMES.items():
            sql = sql.replace(name, other)
        rows = db.execute(sql).fetchall()
        check(bool(rows) != (EMPTY in question), question, rows[:3])
        check(all(any(value is not None for value in row) for row in rows), question, "has empty rows")


def check_whole_profiles(path):
    """What the daemon counted by object and process is what whole profiles have, as several views need."""
    for options in [], ["--pid", 1007], ["--unit", "some-service-1.service"]:
        for by, name in VIEWS:
            halves = ["--json", "--all", "1..7", "8..%d" % WINDOWS, *options]
            alone, several = (json.loads(run("--socket", path, "diff", *halves, "--by", views)[1])
                              for views in (by, by + ",line"))
            check(alone[name] and alone[name] == several[name], "diff by", by, options, "differs from whole profiles")


with tempfile.TemporaryDirectory() as folder:
    database, socket = os.path.join(folder, "branchd.db"), os.path.join(folder, "socket")
    with subprocess.Popen([SERVE, socket, database, "busy", str(WINDOWS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        check(server.stdout.readline() == b"ready\n", "no server")
        connection = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
        compare(socket, connection, [], "")
        compare(socket, connection, ["--pid", 1007], "AND pid = 1007")
        compare(socket, connection, ["--comm", "work*"], "AND comm GLOB 'work*'")
        compare(socket, connection, ["--unit", "some-service-1.service"], "AND unit = 'some-service-1.service'")
        compare_others(socket, connection)
        ask(connection)
        check_whole_profiles(socket)
        connection.close()
        server.stdin.close()
finish()
