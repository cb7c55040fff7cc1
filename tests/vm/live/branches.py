# SPDX-License-Identifier: LGPL-2.1-or-later
"""
A program of known branches, unmodified, under the daemon: the edges that objdump shows and no others, with the
shares they must have; and from each row's target to the next row's source one function.
"""

import re
import time
import unittest
from collections import Counter

from guest import Daemon, Disassembly, Program, built, dump_samples, wait_for

PATTERN = built("tests/vm/vm-pattern")
DIV = built("tests/simulator/programs/simulated-div")
POINTS = 2      # by how much shares may be off
SAMPLES = 500   # of each, with which that is far from a matter of chance: each snapshot has all edges


def known_edges(code):
    """How often each edge is taken in a round of the program, by its code and the names of its branches."""
    edges, function_of, function = Counter(), {}, None
    follows = dict(zip((at for at, _ in code.instructions), (at for at, _ in code.instructions[1:])))
    targets = [at for at, name in code.labels.items() if name.startswith("target_")]
    for at, text in code.instructions:
        name = code.labels.get(at, "")
        if name and not name.startswith("branch_"):
            function = at
        function_of[at] = function
        direct = re.match(r"(call|j\w+) +([0-9a-f]+)", text)
        share = re.match(r"branch_(\d+)_(\d+)", name)
        if direct:
            edges[at, int(direct[2], 16)] = int(share[1]) / int(share[2]) if share else 1
        elif text.startswith("call"):
            for target in targets:
                edges[at, target] = 1 / len(targets)
    calls = {edge: n for edge, n in edges.items() if edge[1] in code.labels}
    for at, text in code.instructions:
        if text == "ret":
            for (call, callee), n in calls.items():
                if callee == function_of[at]:
                    edges[at, follows[call]] = n
    return edges, function_of


class Branches(unittest.TestCase):
    def setUp(self):
        self.edges, self.function_of = known_edges(Disassembly(PATTERN))
        self.assertEqual(sum(self.edges.values()), 8)

    def check_shares(self, seen):
        self.assertEqual(set(seen), set(self.edges))
        for edge, n in self.edges.items():
            share = 100 * seen[edge] / sum(seen.values())
            self.assertAlmostEqual(share, 100 * n / 8, delta=POINTS, msg=list(map(hex, edge)))

    def check_daemon(self, daemon, pid):
        of_it = ["--pid", pid, "-n", 0]
        seen = Counter()
        for row in daemon.ask("top", daemon.all_windows(), "--by", "branch-site", *of_it)["rows"]:
            seen[int(row["from"]["address"], 16), int(row["to"]["address"], 16)] += row["count"]
        print(f"    pid {pid}: {sum(seen.values())} rows, {len(seen)} edges", flush=True)
        self.check_shares(seen)
        for row in daemon.ask("top", daemon.all_windows(), "--by", "block", *of_it)["rows"]:
            start, end = (int(row[place]["address"], 16) for place in ("start", "end"))
            self.assertLessEqual(start, end)
            self.assertEqual(self.function_of[start], self.function_of[end], row)

    def fewest(self, daemon, *programs):
        """Samples that a program has."""
        rows = daemon.ask("top", daemon.all_windows(), "--by", "process")["rows"]
        samples = {row["pid"]: row["self"] for row in rows}
        return min(samples.get(program.pid, 0) for program in programs)

    def test_edges_and_shares(self):
        """The programs run before the daemon: none of the rows is of what was before them."""
        with Program(0, PATTERN) as one, Program(1, PATTERN) as two:
            time.sleep(1)
            with Daemon(f"Mode=branch\nFrequency=499\nPids={one.pid} {two.pid}") as daemon:
                self.assertEqual(daemon.sampling()["mode"], "branch")
                wait_for(lambda: self.fewest(daemon, one, two) >= SAMPLES, "samples of both")
                self.check_daemon(daemon, one.pid)
                self.check_daemon(daemon, two.pid)

    def test_rows_chain(self):
        """In the stream itself, row by row."""
        with Program(0, PATTERN) as one, Program(1, PATTERN) as two:
            time.sleep(1)
            stream = dump_samples("branch", ["sleep", "2"])
        snapshots = [sample["rows"] for sample in stream if sample["pid"] in (one.pid, two.pid)]
        pairs = [(older[1], newer[0]) for rows in snapshots for newer, older in zip(rows, rows[1:])]
        print(f"    {len(snapshots)} snapshots, {len(pairs)} pairs", flush=True)
        self.assertGreater(len(pairs), 1000)
        for start, end in pairs:
            self.assertLessEqual(start, end)
            self.assertEqual(self.function_of[start], self.function_of[end])
        self.assertEqual({row[:2] for rows in snapshots for row in rows}, set(self.edges))


class Data(unittest.TestCase):
    """Of a running program, the variables that its instructions use relative to rip are named as objdump names them."""

    def test_named(self):
        named = {}
        for at, text in Disassembly(DIV).instructions:
            variable = re.search(r"\(%rip\).*# [0-9a-f]+ <(\w+)>", text)
            if variable:
                named[at] = variable[1]
        with Program(0, DIV, "4000000000") as program, Daemon(f"Frequency=499\nPids={program.pid}") as daemon:
            wait_for(lambda: any(row["pid"] == program.pid and row["self"] >= SAMPLES for row in
                                 daemon.ask("top", daemon.all_windows(), "--by", "process")["rows"]), "samples")
            seen = {}
            for function in "main", "compute_flag":
                document = daemon.ask("annotate", function, daemon.all_windows(), "--object", DIV)
                for instruction in document["instructions"]:
                    if instruction["coverage"] and instruction["data"]:
                        seen[int(instruction["at"]["address"], 16)] = instruction["data"]["symbol"]
        print(f"    data of {len(seen)} instructions: {sorted(set(seen.values()))}", flush=True)
        self.assertLessEqual({"flag", "result"}, set(seen.values()))
        for at, name in seen.items():
            if at in named:
                self.assertEqual(name, named[at], hex(at))
