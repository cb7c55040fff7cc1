# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two versions of a program: edited, compiled, recorded by the simulator, and compared by branchctl.

The test that imports it has these arguments: SIMULATOR BRANCHCTL FOLDER-OF-SOURCES COMPILER CASE.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
FLAGS = ["-O2", "-g", "-fomit-frame-pointer", "-fno-stack-protector", "-U_FORTIFY_SOURCE"]

simulator, branchctl, sources, compiler, case = sys.argv[1:]
n_failed = 0

# The example of perf's own proposal: a flag that is set more often, and a loop that turns more often.
INNER = "for (unsigned k = 0; k < %d; k++)\n\t\t\tresult += k;\n\t\tif (flag)"
OLD_DIV = (("if (flag)", INNER % 2),)
NEW_DIV = (("if (flag)", INNER % 12), ("rand() % 2", "rand() % 4"))


def skip(why):
    print("skipped:", why, file=sys.stderr)
    sys.exit(SKIPPED)


def check(condition, *what):
    global n_failed
    if not condition:
        n_failed += 1
        print("FAILED:", *what)
    return condition


def run(*command):
    done = subprocess.run([str(c) for c in command], env=dict(os.environ, LC_ALL="C.UTF-8"),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    if done.returncode == SKIPPED and str(command[0]) == simulator:
        skip("tracing is not allowed: " + done.stderr.decode(errors="replace"))
    if done.returncode != 0:
        print(done.stderr.decode(errors="replace"))
        sys.exit("%s: status %d" % (" ".join(map(str, command)), done.returncode))
    return done.stdout


def edited(folder, name, *edits):
    """A folder of its own with that source, in which each (old, new) was replaced."""
    os.mkdir(folder)
    shutil.copy(os.path.join(sources, "work.h"), folder)
    with open(os.path.join(sources, name), encoding="utf-8") as f:
        text = f.read()
    for old, new in edits:
        if old not in text:
            sys.exit("%s has no %s" % (name, old))
        text = text.replace(old, new)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compiled(source, program, *flags):
    run(compiler, *FLAGS, *flags, source, "-o", program)
    return program


def recorded(program, *arguments, options=()):
    recording = program + ".data"
    run(simulator, "-o", recording, *options, "--", program, *arguments)
    return recording


def compared(old, new, *options):
    return json.loads(run(branchctl, "diff", old, new, "--json", "--all", *options))


def path_of(row):
    """Function and line of each place of its path, newest first."""
    return [(frame["symbol"], (frame["line"] or "").rsplit("/", 1)[-1])
            for frame in (row["old"] or row["new"])["frames"]]


def hits(rows, side):
    return sum(row[side]["hits"] for row in rows)


def check_whole(document):
    """Every sample that has a path is in a row."""
    for side, total in ("old", "old_totals"), ("new", "new_totals"):
        rows = [row for section in document["streams"].values() for row in section if row[side]]
        check(sum(row[side]["hits"] for row in rows) == document[total]["streams"], "hits of", side)


def run_case(cases, *tools):
    """The case, in a folder of its own; exits."""
    for tool in (compiler, *tools):
        if not shutil.which(tool):
            skip(tool + " is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        cases[case](temporary)
    sys.exit(n_failed > 0)
