# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchctl shows of the branches of a simulated recording, against what the simulator executed.

    branches.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

The kind of each branch, which is not in the recording; the filters by it; and the order of
mispredicted ones. Exit status 77: skipped, with the reason, where tracing is forbidden.
"""

import json
import math
import os
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


def shown(branchctl, recording, *options):
    text = output_of(branchctl, "top", recording, "--by", "branch", "-n", "0", "--json", *options)
    return {(place(row["from"]), place(row["to"])): row for row in json.loads(text.stdout)["rows"]}


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
        except Wrong as wrong:
            print("%s: FAILED: %s" % (name, wrong))
            sys.exit(1)


main()
