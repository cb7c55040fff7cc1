# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tree of call stacks, against the true stack of each sample; and stacks with recursion folded.

    trees.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

Functions of the programs go by their names, as nm has them, all else by its file, which adds up the same: a
sample goes through one row of each depth. Exit status 77: skipped.
"""

import collections
import json
import os
import re
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


FRAME = re.compile(r"^ +[0-9a-f]+ (.*?)(?: ×(\d+)(?:\.\.(\d+))?)? \((\S+)\)$")


GROUP = re.compile(r"^(.*) \((\S+)\): leaf (\d+) of (\d+) samples, \d+\.\d %, (\d+) stacks?$")


def runs_of(frames):
    """Frames of one function that follow each other, as (name, object), and their number."""
    runs, last = [], None
    for i, frame in enumerate(frames):
        of, offset = os.path.basename(frame["object"] or "[unknown]"), frame["symbol_offset"] or 0
        name = frame["symbol"] or "%s+%s" % (of, frame["address"])
        function = of, frame["symbol"], int(frame["address"], 0) - offset
        if function == last:
            runs[-1] = (frame["symbol"] or name, of), runs[-1][1] + 1
        else:
            runs.append(((name if i == 0 or not frame["symbol"] else "%s+%#x" % (name, offset), of), 1))
        last = function
    return runs


def check_groups(groups, stacks):
    """Each leaf function once, the hottest first, with the samples of all its stacks, and their number. Two functions
    of one file may have the same name."""
    samples, n = collections.Counter(), collections.Counter(names[0] for names in stacks)
    for names, count in stacks.items():
        samples[names[0]] += count
    got = collections.Counter()
    for leaf, count, _ in groups:
        got[leaf] += count
    compare("samples of leaf functions", got, samples)
    once = collections.Counter(leaf for leaf, _, _ in groups)
    compare("stacks of leaf functions", {leaf: count for leaf, _, count in groups if once[leaf] == 1},
            {leaf: n[leaf] for leaf in n if once[leaf] == 1})
    if groups != sorted(groups, key=lambda group: -group[1]):
        raise Wrong("the leaf functions are not in the order of their samples")


def check_recursion(branchctl, recording):
    """The text folds the stacks of JSON: their samples, and the number of frames of each."""
    top = [branchctl, "top", recording, "--by", "stack", "-n", "0"]
    expected, turns = collections.Counter(), collections.defaultdict(set)
    rows = json.loads(output_of(*top, "--json").stdout)["rows"]
    for row in rows:
        runs = runs_of(row["frames"])
        expected[tuple(name for name, _ in runs)] += row["samples"]
        for i in range(len(runs)):  # frames with the same callers are one
            turns[tuple(name for name, _ in runs[i:]), i == 0].add(runs[i][1])
    got, groups = collections.Counter(), []
    for stack in output_of(*top).stdout.decode().split("\n\n")[1:]:
        head, *lines = stack.splitlines()
        group = GROUP.match(head)
        if group:
            groups.append((group.group(1, 2), int(group.group(3)), int(group.group(5))))
            head, *lines = lines
        frames = [FRAME.match(line) for line in lines if not line.startswith("...")]
        names = tuple((frame.group(1), frame.group(4)) for frame in frames)
        got[names] += int(head.split()[1])
        for i, frame in enumerate(frames):
            few = int(frame.group(2) or 1)
            if {few, int(frame.group(3) or few)} != {f(turns[names[i:], i == 0]) for f in (min, max)}:
                raise Wrong("%s should be %s frames" % (frame.group(), sorted(turns[names[i:], i == 0])))
        if names[0] != groups[-1][0]:
            raise Wrong("%s is among the stacks of %s" % (names[0], groups[-1][0]))
    compare("folded stacks", got, expected)
    check_groups(groups, expected)
    return "%d stacks, %d with recursion folded" % (len(rows), len(got))


def main():
    simulator, branchctl, folder, name = sys.argv[1:]
    program = [os.path.join(folder, "simulated-" + name), PROGRAMS[name][0][0]]
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "simulated.data")
        try:
            simulate(simulator, recording, ["--period", "101", "--callchain"], program)
            print(name, check_recursion(branchctl, recording))
            for first in "caller", "callee":
                print(name, check(branchctl, recording, Symbolizer(folder), first), "paths,", first, "first")
        except Wrong as wrong:
            print("FAILED:", wrong)
            sys.exit(1)


main()
