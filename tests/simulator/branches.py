# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchctl shows of the branches of a simulated recording, against what the simulator executed.

    branches.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

The kind of each branch, which is not in the recording; the filters by it; the order of mispredicted
ones; pairs of functions, against those that perf script prints, where it is installed; and the source lines of
blocks, against those of addr2line; and the branch records of each sample, against perf script. Exit status 77: skipped, with the reason, where tracing is forbidden.
"""

import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from engine import PROGRAMS, Truth, Wrong, compare, output_of, simulate

# As the truth calls them.
KINDS = {"conditional": "cond", "jump": "jmp", "indirect-jump": "ind_jmp", "call": "call",
         "indirect-call": "ind_call", "return": "ret"}
Z = 1.959964


def place(location):
    """As Truth has it."""
    if location["object"] is None:
        return None, int(location["address"], 0)
    return location["object"], int(location["file_offset"] or location["address"], 0)


def rows_by(branchctl, recording, view, *options):
    return json.loads(output_of(branchctl, "top", recording, "--by", view, "-n", "0", "--json", *options).stdout)["rows"]


def shown(branchctl, recording, *options):
    return {(place(row["from"]), place(row["to"])): row
            for row in rows_by(branchctl, recording, "branch-site", *options)}


def true_kinds(truth):
    """Of places in files; not everybody may read the kernel's own page of code."""
    kinds = {}
    for image, source, _, _, _, _, kind in truth.rows("taken"):
        where = truth.place(int(image), int(source, 0))
        if where[0] and where[0].startswith("/"):
            kinds[where] = KINDS[kind]
    return kinds


def wilson_low(k, n):
    """The root of (share - p)^2 = Z^2 p (1 - p) / n that is less than the share, by bisection."""
    low, high, share = 0.0, k / n, k / n
    for _ in range(100):
        p = (low + high) / 2
        if (share - p) ** 2 > Z * Z * p * (1 - p) / n:
            low = p
        else:
            high = p
    return 100 * low


def check_kinds(branchctl, recording, rows, kinds):
    n = 0
    for (source, target), row in rows.items():
        if source not in kinds:
            continue
        n += 1
        if row["kind"] != kinds[source]:
            raise Wrong("%s -> %s is no %s, but a %s" % (source, target, row["kind"], kinds[source]))
    for asked in ("cond", "ind_jmp,ret", "any_call"):
        wanted = {"any_call": ["call", "ind_call"]}.get(asked, asked.split(","))
        compare("branches of " + asked, shown(branchctl, recording, "--branch-kind", asked),
                {key: row for key, row in rows.items() if row["kind"] in wanted})
    return n


def check_mispredicted(branchctl, recording, rows):
    worst = shown(branchctl, recording, "--mispredicted")
    compare("mispredicted branches", worst,
            {key: row for key, row in rows.items() if row["mispredicted"]})
    last = 100.0
    for key, row in worst.items():
        low = row["mispredicted_percent_low"]
        expected = wilson_low(row["mispredicted"], row["count"])
        if not math.isclose(low, expected, abs_tol=1e-6):
            raise Wrong("%s: at least %s %%, should be %s" % (key, low, expected))
        if low > last:
            raise Wrong("%s, at least %s %%, comes after one of %s" % (key, low, last))
        last = low
    return len(worst)


def function_of(location):
    """The start of its function, or itself without one."""
    return location["object"], int(location["address"], 0) - (location["symbol_offset"] or 0), location["symbol"]


def pairs_of(rows):
    pairs = collections.Counter()
    for row in rows:
        pairs[function_of(row["from"]), function_of(row["to"])] += row["count"]
    return pairs


def check_pairs(branchctl, recording):
    """Branches by pairs of functions are those by instructions, added up; their shares add up to 100 %."""
    for options in [], ["--branch-kind", "any_call"], ["--mispredicted"], ["--level", "user"]:
        rows = rows_by(branchctl, recording, "branch", *options)
        sites = pairs_of(rows_by(branchctl, recording, "branch-site", *options))
        compare("pairs of functions", pairs_of(rows), sites)
        if len(rows) != len(sites) or not math.isclose(sum(row["percent"] for row in rows), 100, abs_tol=1e-3):
            raise Wrong("%d pairs, should be %d; they are no 100 %% together" % (len(rows), len(sites)))
    if rows_by(branchctl, recording, "branch", "--level", "kernel"):
        raise Wrong("branches to code of the kernel, which is not simulated")
    for key, value in {"from": lambda row: row["from"]["symbol"] or "\x7f", "to": lambda row: row["to"]["symbol"] or "\x7f",
                       "count": lambda row: -row["count"], "mispredicted": lambda row: -row["mispredicted"],
                       "cycles": lambda row: -row["cycles"]}.items():
        order = [value(row) for row in rows_by(branchctl, recording, "branch", "--sort", key)]
        if order != sorted(order, key=lambda v: v.encode() if isinstance(v, str) else v):
            raise Wrong("--sort %s is another order" % key)


BRANCH_OF_PERF = re.compile(r"\s*(.*?)/([^/]*)/[MPN-]/[-XA]/[-A]/\d+/?")


def pairs_of_perf(recording):
    """By the starts of functions, as perf has them: one function may have several names."""
    addresses, names = (subprocess.run(["perf", "script", "-i", recording, "-F", field], check=True,
                                       capture_output=True).stdout.decode().splitlines()
                        for field in ("brstack", "brstacksym"))
    pairs, named = collections.Counter(), collections.Counter()
    for line, line_of_names in zip(addresses, names):
        for at, name in zip(line.split(), BRANCH_OF_PERF.findall(line_of_names)):
            ends = []
            for address, text in zip(at.split("/"), name):
                symbol, _, offset = text.rpartition("+0x")
                ends.append((int(address, 16) - (int(offset, 16) if symbol else 0), symbol))
            pairs[ends[0][0], ends[1][0], any("@plt" in e[1] or not e[1] for e in ends)] += 1
            named[ends[0][1], ends[1][1]] += 1
    return pairs, named


def check_perf(branchctl, recording, program):
    """As perf has them; the stubs of the PLT, which are functions here, have no symbol for it."""
    pairs, named = pairs_of_perf(recording)
    rows = rows_by(branchctl, recording, "branch")
    if sum(pairs.values()) != sum(row["count"] for row in rows):
        raise Wrong("perf has other branches")
    ours = collections.Counter(row["count"] for row in rows
                               if not any("@plt" in (row[e]["symbol"] or "@plt") for e in ("from", "to")))
    theirs = collections.Counter(n for (_, _, is_plt), n in pairs.items() if not is_plt)
    missing = sum((theirs - ours).values()) + sum((ours - theirs).values())
    if missing > len(rows) / 50:
        raise Wrong("%d of %d pairs are with perf: %s, here %s" % (missing, len(rows), theirs - ours, ours - theirs))
    own = set(subprocess.run(["nm", "--defined-only", "-j", program], check=True,
                             capture_output=True).stdout.decode().split()) - {"_init", "_fini"}
    mine = collections.Counter()
    for row in rows:
        mine[row["from"]["symbol"], row["to"]["symbol"]] += row["count"]
    mangled = {name.split("(")[0] for key in mine for name in key if name and "(" in name}
    mine = {key: n for key, n in mine.items() if set(key) <= own - mangled}  # perf leaves out some parameters
    compare("pairs of the program", mine, {key: named[key] for key in mine})
    if not mine:
        raise Wrong("no pairs of the program")
    return "%d pairs of functions, %d of them otherwise with perf" % (len(rows), missing)


def lines_of(program, addresses):
    """Of each address the file and line of addr2line; without the discriminator."""
    text = output_of("addr2line", "-e", program, *(hex(address) for address in addresses)).stdout.decode()
    return [os.path.basename(line.split(" (")[0]) for line in text.splitlines()]


def lines_of_perf(recording, field):
    text = output_of("perf", "script", "-i", recording, "-F", field).stdout.decode()
    return [line for line in text.splitlines() if line.strip()]


def check_dump(branchctl, recording):
    """dump --samples --branches prints the lines of perf script; names where perf has one."""
    text = output_of(branchctl, "dump", "--samples", "--branches", recording).stdout.decode()
    lines = [line for line in text.splitlines() if line.startswith(" ")]
    for ours, theirs in zip(lines[::2], lines_of_perf(recording, "brstack")):
        if ours.split() != theirs.split():
            raise Wrong("branch records %r are with perf %r" % (ours, theirs))
    theirs = lines_of_perf(recording, "brstacksym")
    if len(lines) != 2 * len(theirs) or not theirs:
        raise Wrong("%d lines of branch records, with perf %d" % (len(lines), len(theirs)))
    n = same = 0
    for mine, other in zip(lines[1::2], theirs):
        for a, b in zip(BRANCH_OF_PERF.findall(mine), BRANCH_OF_PERF.findall(other)):
            named = not any("@plt" in end or end == "[unknown]" for end in a + b)
            n += named  # one function may have several names
            same += named and all(x.rpartition("+")[2] == y.rpartition("+")[2] for x, y in zip(a, b))
    if same < 0.98 * n or not n:
        raise Wrong("%d of %d branches have the offsets of perf" % (same, n))
    return "%d of %d branches of samples have the offsets of perf" % (same, n)


def check_blocks(branchctl, recording, program):
    """The table names the function, and the lines of both ends."""
    path = os.path.realpath(program)
    rows = [row for row in rows_by(branchctl, recording, "block", "--object", path)
            if row["start"]["symbol"] and row["start"]["symbol"] == row["end"]["symbol"]]
    table = output_of(branchctl, "top", recording, "--by", "block", "-n", "0", "--object", path).stdout.decode()
    starts, ends = (lines_of(path, [int(row[end]["address"], 0) for row in rows]) for end in ("start", "end"))
    n, missing = 0, []
    for row, start, end in zip(rows, starts, ends):
        if start.endswith(":?") or end.endswith(":?") or start.endswith(":0") or end.endswith(":0"):
            continue
        n += 1
        same = start.rpartition(":")[0] == end.rpartition(":")[0]
        until = "" if start == end else ".." + (end.rpartition(":")[2] if same else end)
        name = "%s %s%s" % (row["start"]["symbol"], start, until)
        if not re.search(r" %s +%s\n" % (re.escape(name), re.escape(os.path.basename(path))), table):
            missing.append(name)
    if n == 0 or len(missing) > n / 20:  # addr2line errs in the file of some inlined lines of C++
        raise Wrong("of %d blocks with lines these are missing: %s" % (n, missing))
    return "%d of %d blocks with lines, %d otherwise with addr2line" % (n, len(rows), len(missing))


def check_recording(branchctl, recording):
    rows = shown(branchctl, recording)
    kinds = true_kinds(Truth(recording))
    n = check_kinds(branchctl, recording, rows, kinds)
    if n == 0:
        raise Wrong("nothing to compare")
    return "%d of %d branches of known kind, %d mispredicted" % (
        n, len(rows), check_mispredicted(branchctl, recording, rows))


def main():
    simulator, branchctl, folder, name = sys.argv[1:]
    program = [os.path.join(folder, "simulated-" + name)]
    program += [os.path.join(folder, a) if a.endswith(".so") else a for a in PROGRAMS[name][0]]
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "simulated.data")
        try:
            simulate(simulator, recording, ["--period", "101"], program)
            print("%s: %s" % (name, check_recording(branchctl, recording)))
            check_pairs(branchctl, recording)
            if shutil.which("addr2line"):
                print(check_blocks(branchctl, recording, program[0]))
            if shutil.which("perf"):
                print(check_perf(branchctl, recording, program[0]))
                print(check_dump(branchctl, recording))
        except Wrong as wrong:
            print("%s: FAILED: %s" % (name, wrong))
            sys.exit(1)


main()
