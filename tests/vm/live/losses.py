# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Nothing uncounted at 5 kHz on two CPUs, with a ring that overflows: each sample taken is in a window or in a
counter of losses, exactly.
"""

import re
import signal
import subprocess
import tempfile
import time
import unittest

from guest import Program, built, wait_for

BUSY = built("tests/simulator/programs/simulated-chain"), "4000000000"


class Losses(unittest.TestCase):
    def test_all_samples_are_accounted_for(self):
        counts = self.collect()
        print("   ", counts, flush=True)
        self.assertEqual(counts["taken"], counts["bpf_runs"])
        self.assertEqual(counts["taken"],
                         counts["written"] + counts["ring_full"] + counts["no_ring"])
        self.assertEqual(counts["written"],
                         counts["in_windows"] + counts["limit"] + counts["undecodable"])
        self.assertEqual(counts["lost_samples"],
                         counts["ring_full"] + counts["no_ring"] + counts["undecodable"])
        self.assertEqual(counts["undecodable"], 0)
        for cause in "written", "ring_full":
            self.assertGreater(counts[cause], 100, "that was no test")

    def collect(self):
        """The daemon's collector, stopped again and again; what it printed at the end."""
        with tempfile.TemporaryFile("w+") as out, Program(0, *BUSY), Program(1, *BUSY):
            collect = subprocess.Popen([built("tests/live/collect"), "-s", "-F", "5000", "-m", "8", "-n",
                                        "0"], stdout=out)
            wait_for(lambda: self.windows(out), "a window with samples")
            for _ in range(3):
                collect.send_signal(signal.SIGSTOP)
                time.sleep(1)
                n = self.windows(out)
                collect.send_signal(signal.SIGCONT)
                wait_for(lambda: self.windows(out) > n, "a window with samples after that")
            collect.send_signal(signal.SIGINT)
            self.assertEqual(collect.wait(), 0)
            return {name: int(n) for name, n in re.findall(r"^(\w+)=(\d+)$", self.read(out), re.M)}

    def read(self, out):
        out.seek(0)
        return out.read()

    def windows(self, out):
        """How many windows with samples were printed."""
        return len(re.findall(r"^window.* [1-9]\d* samples", self.read(out), re.M))
