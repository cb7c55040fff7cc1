# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Call stacks deeper than the registers, from the rows alone: a chain of 43 calls without frame pointers, of which the
32 rows show a part at a time, comes to be right to main in the daemon's windows.
"""

import os
import unittest
from collections import Counter

from guest import Daemon, Program, built, wait_for

DEEP = built("tests/vm/vm-deep")
ROWS = 32
ENOUGH = 50         # samples with whole stacks that are deeper than that
MAX_INVALID = 0.005  # of all stacks, with a caller that is none


def chain_of(row):
    """The functions of the program from the leaf on; those of libc, by which main was called, left out."""
    return [frame["symbol"] for frame in row["frames"]
            if frame["object"] and frame["object"].endswith("vm-deep")]


def true_chain(leaf):
    n = int(leaf[1:]) if leaf != "main" else 0
    return [f"f{i}" for i in range(n, 0, -1)] + ["main"]


def score(rows):
    """Samples by what their stacks are."""
    counts = Counter()
    for row in rows:
        names = chain_of(row)
        if not names:
            continue
        truth = true_chain(names[0])
        deep = len(truth) > ROWS + 1
        counts["all"] += row["samples"]
        counts["deep"] += row["samples"] if deep else 0
        if names != truth[:len(names)]:
            counts["invalid"] += row["samples"]
        elif deep and names == truth:
            counts["deep, to main"] += row["samples"]
            counts["deep, to main, stitched"] += row["samples"] if row["stitched"] >= row["samples"] else 0
    return counts


class Stacks(unittest.TestCase):
    def test_right_to_main(self):
        # each task switch empties the registers, on these kernels: all others run elsewhere
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        os.sched_setaffinity(0, [1])
        with Program(0, DEEP) as program:
            with Daemon(f"Mode=stack\nUserStacks=none\nFrequency=999\nPids={program.pid}") as daemon:
                counts = wait_for(lambda: self.enough(daemon), "whole stacks of more than the rows")
        print("   ", dict(counts), flush=True)
        self.assertEqual(counts["deep, to main, stitched"], counts["deep, to main"])
        self.assertLessEqual(counts["invalid"], MAX_INVALID * counts["all"])

    def enough(self, daemon):
        counts = score(daemon.ask("top", "..@0", "--by", "stack", "-n", 0)["rows"])
        return counts if counts["deep, to main"] >= ENOUGH else None
