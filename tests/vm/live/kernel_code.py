# SPDX-License-Identifier: LGPL-2.1-or-later
"""annotate of the kernel's functions: the code that runs, from /proc/kcore, for root."""

import subprocess
import unittest

from guest import Daemon, wait_for

FUNCTIONS = 5


def kernel_functions(daemon):
    rows = daemon.ask("top", daemon.all_windows())["rows"]
    return [row["symbol"] for row in rows if row["object"] == "[kernel]" and row["symbol"] and row["self"]]


class Kernel(unittest.TestCase):

    def check_function(self, daemon, name):
        """Whole, and each instruction where the one before ends. Is there the nop of the tracer, five bytes long?"""
        document = daemon.ask("annotate", name, daemon.all_windows(), "--object", "[kernel]")
        function, instructions = document["function"], document["instructions"]
        self.assertEqual(function["code"], "kernel", name)
        self.assertFalse(function["cut"])
        at = int(function["start"]["address"], 16)
        for instruction in instructions:
            self.assertEqual(int(instruction["at"]["address"], 16), at)
            self.assertTrue(instruction["text"])
            at += instruction["size"]
        self.assertEqual(at, int(function["start"]["address"], 16) + function["size"])
        # a sampled address is where an instruction begins
        self.assertEqual(sum(instruction["samples"] for instruction in instructions), function["samples"])
        return any(one["text"].startswith("nop") and one["size"] == 5 for one in instructions[:2])

    def test_as_it_runs(self):
        with subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=4k"], stderr=subprocess.DEVNULL) as load:
            try:
                with Daemon(f"Frequency=499\nMode=software\nPids={load.pid}") as daemon:
                    wait_for(lambda: len(kernel_functions(daemon)) >= FUNCTIONS, "samples of the kernel")
                    names = kernel_functions(daemon)[:FUNCTIONS]
                    traced = [name for name in names if self.check_function(daemon, name)]
            finally:
                load.kill()
        print(f"    {len(names)} functions, {len(traced)} with the tracer's nop: {names}", flush=True)
        self.assertTrue(traced, "the code is not as it runs")
