# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Programs of 32 bits, on a kernel that runs them: there are no unwind tables for them, so they count by themselves, and
have the callers that the kernel finds by frame pointers.
"""

import os
import unittest

from guest import Daemon, Program, built, wait_for

CHAIN = ["innermost", "middle", "outermost", "_start"]
ENOUGH = 100  # samples
WHOLE = 0.9  # of the samples of a program with frame pointers: at the start of a function there is no frame yet


class Bits32(unittest.TestCase):
    def run_program(self, option):
        """The samples of each stack, as functions from the leaf on, and how many count as of 32 bits."""
        path = built("tests/vm/vm-bits-32" + option)
        if not os.path.exists(path):
            self.skipTest("no program of 32 bits could be made")
        with Program(1, path) as program:
            with Daemon(f"Mode=software\nFrequency=499\nUserStacks=tables\nPids={program.pid}") as daemon:
                stacks = wait_for(lambda: self.stacks(daemon), "samples")
                n = daemon.ask("status")["stacks"]["of_32_bit"]
        print("   ", stacks, n, flush=True)
        self.assertGreaterEqual(n, sum(stacks.values()))
        return stacks

    @staticmethod
    def stacks(daemon):
        stacks = {}
        for row in daemon.ask("top", "..@0", "--by", "stack", "-n", 0)["rows"]:
            names = tuple(frame["symbol"] for frame in row["frames"] if "vm-bits-32" in (frame["object"] or ""))
            stacks[names] = stacks.get(names, 0) + row["samples"]
        return stacks if sum(stacks.values()) >= ENOUGH else None

    def test_with_frame_pointers(self):
        stacks = self.run_program("-fno-omit-frame-pointer")
        self.assertGreaterEqual(stacks.get(tuple(CHAIN), 0), WHOLE * sum(stacks.values()))
        for stack in stacks:
            self.assertEqual(list(stack), [name for name in CHAIN if name in stack], "a caller comes after its callee")

    def test_without(self):
        stacks = self.run_program("-fomit-frame-pointer")
        self.assertTrue(all(stack for stack in stacks), "the leaf is known")
