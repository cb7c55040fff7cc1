# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl diff of ranges of windows: the daemon's counts of functions equal those of the whole profiles."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from harness import check, finish, one_line, run

WINDOWS = 16
OLD, NEW = "1..%d" % (WINDOWS // 2), "%d..%d" % (WINDOWS // 2 + 1, WINDOWS)


def asked(path, *arguments):
    status, out, err = run("--socket", path, "diff", *arguments, "--json", "--all")
    nobody = "nobody" in arguments
    check(status == nobody and ("nothing matches" in err) == nobody, arguments, status, err)
    return json.loads(out)


def check_ranges(path, shape):
    """The report of all views is made from the profiles, that by function alone is not."""
    for windows in (OLD, NEW), ("3", "4"), ("1..2", NEW):
        for options in [], ["--pid", 1002], ["--unit", "some-service-1.service"], ["--comm", "nobody"]:
            if shape == "busy" and windows[0] != OLD and options:
                continue
            whole = asked(path, *windows, *options)
            functions = asked(path, *windows, *options, "--by", "function")
            for what in "functions", "old", "new", "old_totals", "new_totals":
                check(whole[what] == functions[what], shape, windows, options, what, "differ")
            if "--unit" in options:
                patterns = asked(path, *windows, "--unit", "none,some-serv?ce-[1]*")
                check(patterns["functions"] == functions["functions"], shape, windows, "a list of patterns")
            if "nobody" in options:
                check(not functions["functions"], "of nobody there is something")
            if not options:
                check(functions["functions"], "a test of nothing")
                check(any(row["new"] and row["new"]["per_call"] for row in functions["functions"]) ==
                      (shape == "busy"), shape, "cycles of calls")
            if shape == "renamed" and not options:
                check_renamed(functions["functions"], windows)


def check_page(path, shape):
    """Without --by whole windows are loaded if there is more in them than functions, and if they are few."""
    for windows, few in ((OLD, NEW), False), (("3", "4"), True):
        status, page, said = run("--socket", path, "diff", *windows)
        check(status == 0 and ("more of each" in page) == (shape == "busy" and few), page)
        check((" blocks\n" in page) == (shape == "busy" and few), shape, windows, "blocks:", page)
        check(("--by stream,block" in said) == (shape == "busy" and not few), shape, windows, said)


def check_overlap(path):
    """It is said if windows are on both sides."""
    for old, new, line in ("3..6", "5..9", "2 windows are on both sides"), ("3", "3", "1 window is on both sides"), \
            ("3..5", "5..6", "window 5 is on both sides, because one ends and the other begins within it"), ("3..4", "5", None):
        status, _, said = run("--socket", path, "diff", old, new)
        check(status == 0 and ("on both sides" in said) == bool(line) and (line or "") in said, old, new, said)


def check_no_match(path):
    """The daemon leaves out the processes that a filter does not match; yet it is said which there are."""
    rows = json.loads(run("--socket", path, "top", "3..5", "--by", "process", "--json")[1])["rows"]
    name, units = max(rows, key=lambda row: row["self"])["comm"], {row["unit"] for row in rows} - {None}
    for words in ["top", "3..5"], ["top", "3..5", "--by", "stack"], ["dump", "3"], ["export", "--format", "folded", "3"]:
        status, _, said = run("--socket", path, *words, "--comm", "nobody")
        check(status == 1 and one_line(said) and "nothing matches the filters; there are the processes " + name in said,
              words, status, said)
    status, _, said = run("--socket", path, "top", "3", "--unit", "no.service")
    check(status == 1 and one_line(said) and ("there are the units " if units else "no process is in a unit") in said, units, said)
    status, _, said = run("--socket", path, "top", "3", "--container", "01234567")
    check(status == 1 and one_line(said) and "no process is in a container" in said, status, said)


def check_renamed(rows, windows):
    """The program has another path and build-id in the new half: its functions show that it is the same."""
    new = "/opt/alpha" if windows[1] == "4" else "/srv/beta"
    program = [row for row in rows if "/opt/alpha" in objects_of(row) or "/srv/beta" in objects_of(row)]
    check(["/opt/alpha", new] in map(objects_of, program), windows, "is not paired")
    for row in program:
        check(objects_of(row)[0] in (None, "/opt/alpha") and objects_of(row)[1] in (None, new), windows, row)


def damage(path):
    """Counts of functions that are gone, or cut: they only repeat what the rows say."""
    with sqlite3.connect(path) as db:
        check(db.execute("DELETE FROM function_counts WHERE window = 3").rowcount == 1, "no counts to delete")
        for window, part in (4, 0.5), (10, 0.02):
            counts = db.execute("SELECT counts FROM function_counts WHERE window = ?", (window,)).fetchone()[0]
            db.execute("UPDATE function_counts SET counts = ? WHERE window = ?",
                       (counts[:int(len(counts) * part)], window))
    db.close()


def objects_of(row):
    return [row[side] and row[side]["object"] for side in ("old", "new")]


for kind in "idle", "busy", "renamed":
    with tempfile.TemporaryDirectory() as place:
        socket = os.path.join(place, "socket")
        with subprocess.Popen([sys.argv[2], socket, os.path.join(place, "windows.db"), kind, str(WINDOWS)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            check(server.stdout.readline() == b"ready\n", "no server")
            check_ranges(socket, kind)
            check_page(socket, kind)
            check_overlap(socket)
            check_no_match(socket)
            if kind == "renamed":
                damage(os.path.join(place, "windows.db"))
                check_ranges(socket, kind)
            server.stdin.close()
            server.stdout.read()
finish()
