# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Call stacks by unwind tables beside branch records: the registers and the stack's bytes come behind the records of a
sample.
"""

import unittest

from guest import Daemon, Program, wait_for
from stacks import DEEP, chain_of, true_chain

ENOUGH = 500  # samples with whole stacks; before the table is built there are others


class Unwound(unittest.TestCase):
    def test_right_to_main(self):
        with Program(1, DEEP) as program:
            with Daemon(f"Mode=branch\nFrequency=499\nUserStacks=tables\nPids={program.pid}") as daemon:
                whole, wrong = wait_for(lambda: self.count(daemon), "whole stacks")
        print(f"    {whole} whole stacks", flush=True)
        self.assertEqual(wrong, [])

    @staticmethod
    def count(daemon):
        """How many samples have their whole stack, and the stacks that are wrong."""
        whole, wrong = 0, []
        for row in daemon.ask("top", "..@0", "--by", "stack", "-n", 0)["rows"]:
            names = chain_of(row)
            truth = true_chain(names[0]) + ["_start"] if names and names[0] != "_start" else names
            whole += row["samples"] if names == truth else 0
            if names != truth[:len(names)]:
                wrong.append(names)
        return (whole, wrong) if whole >= ENOUGH else None
