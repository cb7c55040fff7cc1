# SPDX-License-Identifier: LGPL-2.1-or-later
"""diff --by line of two builds of a program: lines match by their numbers, which is said, or by the given sources."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import perfdata
from harness import SKIPPED, check, finish, one_line, run

SOURCE = """static volatile unsigned long x;
__attribute__((noinline)) static void one(void) { for (int i = 0; i < 9; i++) x = x * 3 + 1; }
int main(void) { one(); return 0; }
"""
ADDED = "/* The lines below move by one. */\n"


def build(folder, name, source):
    """The recording of the program that the source in a folder of this name makes, all samples in one()."""
    place = os.path.join(folder, name)
    os.mkdir(place)
    with open(place + "/demo.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run(["cc", "-g", "-O1", "-no-pie", "-Wl,--build-id", "-o", "demo", "demo.c"], cwd=place, check=True)
    notes, symbols = (subprocess.run([*tool, place + "/demo"], check=True, capture_output=True, text=True).stdout
                      for tool in (["readelf", "-n"], ["nm"]))
    start = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" one"))
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1])
    data = place + ".data"
    perfdata.write(data, [perfdata.mapping((place + "/demo").encode(), build_id),
                          *(perfdata.sample(i, start + 4) for i in range(1, 21))])
    return data


def diff(*arguments):
    status, out, err = run("diff", *arguments, "--by", "line", "--json")
    check(status == 0, arguments, status, err)
    return json.loads(out)["lines"], err


def check_moved(folder, old, new):
    rows, err = diff(old, new)
    check(one_line(err) and "new/demo was rebuilt in between, and lines match by their numbers: give --before and --after, "
          "or see --by function" in err, err)
    check(len(rows) == 2 and all(not row["old"] or not row["new"] for row in rows), "a moved line is a row of both", rows)
    rows, err = diff(old, new, "--before", folder + "/old", "--after", folder + "/new")
    check(not err and len(rows) == 1 and rows[0]["old"] and rows[0]["new"], "the sources do not match the lines", rows, err)


if not all(map(shutil.which, ("cc", "nm", "readelf"))):
    print("there is no compiler, nm or readelf")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as temporary:
    before = build(temporary, "old", SOURCE)
    check_moved(temporary, before, build(temporary, "new", ADDED + SOURCE))
    check(diff(before, before)[1] == "", "one build was rebuilt")
finish()
