# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tree of call stacks, against the true stack of each sample.

    trees.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

Functions of the programs go by their names, as nm has them, all else by its file, which adds up the same: a
sample goes through one row of each depth. Exit status 77: skipped.
"""

import json
import os
import sys
import tempfile

from engine import PROGRAMS, Counts, Symbolizer, Truth, Wrong, compare, frame_places, output_of, simulate


def true_tree(truth, symbolizer, callers_first):
    """Samples through, and samples that end in, each path from a root."""
    tree = Counts()
    for sample in truth.samples:
        path = tuple(symbolizer.function(place) for place in frame_places(truth, sample))
        path = path[::-1] if callers_first else path
        for n in range(1, len(path) + 1):
            tree.add(path[:n], 1, int(n == len(path)))
    return tree


def shown_tree(rows, symbolizer):
    tree, path = Counts(), []
    for row in rows:
        del path[row["depth"]:]
        path.append(symbolizer.named(row["frame"]["object"], row["frame"]["symbol"]))
        tree.add(tuple(path), row["total"], row["self"])
    return tree


def check(branchctl, recording, symbolizer, first):
    top = [branchctl, "top", recording, "--by", "stack", "--json", "-n", "0"]
    rows = json.loads(output_of(*top, "--tree=" + first).stdout)["rows"]
    expected = true_tree(Truth(recording), symbolizer, first == "caller")
    compare("paths, %s first" % first, shown_tree(rows, symbolizer), expected)
    return len(expected)


def main():
    simulator, branchctl, folder, name = sys.argv[1:]
    program = [os.path.join(folder, "simulated-" + name), PROGRAMS[name][0][0]]
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "simulated.data")
        try:
            simulate(simulator, recording, ["--period", "101", "--callchain"], program)
            for first in "caller", "callee":
                print(name, check(branchctl, recording, Symbolizer(folder), first), "paths,", first, "first")
        except Wrong as wrong:
            print("FAILED:", wrong)
            sys.exit(1)


main()
