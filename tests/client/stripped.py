# SPDX-License-Identifier: LGPL-2.1-or-later
"""top --by stack of a program without symbols: by the functions of its unwind table, else by object."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import perfdata
from harness import SKIPPED, check, finish, run

SOURCE = b"""
static volatile unsigned long x;
__attribute__((noinline)) static void one(void) { for (int i = 0; i < 9; i++) x = x * 3 + 1; }
__attribute__((noinline)) static void two(void) { for (int i = 0; i < 9; i++) x = x * 5 + 1; }
int main(void) { one(); two(); return 0; }
"""


def build(folder, name, *removed):
    """The program, stripped, and where its functions are."""
    path = os.path.join(folder, name)
    subprocess.run(["cc", "-xc", "-O2", "-fno-inline", "-no-pie", "-o", path, "-"], input=SOURCE, check=True)
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    subprocess.run(["strip", *[f"--remove-section={section}" for section in removed], path], check=True)
    return path, {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}


def annotate(data, path, symbols):
    """The instructions of one(), by any address in it: the samples at each; nothing without the table."""
    status, out, err = run("annotate", f"{os.path.basename(path)}:{symbols['one'] + 1:#x}", data)
    if os.path.basename(path) == "plain":
        check(status == 1 and "no counts at" in err, status, out, err)
        return
    check(status == 0, status, out, err)
    check(f"{symbols['one']:x}" in out and " mul" not in out and "lea" in out, "the code of one():", out)
    check(f"{symbols['two']:x}" not in out, "code of two():", out)


def check_tree(data, stacks):
    """Each order of the tree has a line for each of the stacks, all of which have one frame, with its object."""
    for order in "caller", "callee":
        status, out, err = run("top", data, "--by", "stack", f"--tree={order}")
        lines = out[out.index("FUNCTION\n"):].splitlines()[1:]
        check(status == 0 and len(lines) == len(stacks), order, "has other rows than", stacks, ":", out, err)
        for line, (samples, name) in zip(lines, stacks):
            check(samples in line.split(), samples, line)
            unit = name.split(" ")[0]  # the address of a function, or [unknown] for all of the object
            check(unit in line and line.endswith(name.split(" ")[-1]), name, line)


def rows(folder, path, symbols):
    """Of 12 samples at four instructions of one(), and 3 in two(), the numbers of the rows and their first lines."""
    data = os.path.join(folder, "perf.data")
    addresses = [symbols["one"] + 4 * (i % 4) for i in range(12)] + [symbols["two"] + 4] * 3
    samples = [perfdata.sample(1000 * i, address) for i, address in enumerate(addresses, 1)]
    perfdata.write(data, [perfdata.mapping(path.encode()), *samples])
    status, out, err = run("top", data, "--by", "stack")
    check(status == 0, status, out, err)
    annotate(data, path, symbols)
    check_tree(data, re.findall(r"% +(\d+) samples\n +(.*)\n", out))
    return re.findall(r"% +(\d+) samples\n +(.*)\n", out)


if not shutil.which("cc") or not shutil.which("strip"):
    print("there is no compiler, or no strip")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as place:
    program, functions = build(place, "tabled")
    expected = [("12", f"{functions['one']:x} [unknown] (tabled)"), ("3", f"{functions['two']:x} [unknown] (tabled)")]
    found = rows(place, program, functions)
    check(found == expected, "by the unwind table:", found, expected)
    program, functions = build(place, "plain", ".eh_frame", ".eh_frame_hdr")
    found = rows(place, program, functions)
    check(found == [("15", "[unknown] (plain)")], "by object:", found)
finish()
