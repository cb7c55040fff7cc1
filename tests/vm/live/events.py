# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Events that are chosen by name, by code and by the fields of the PMU, and CPUs: as far as the simulated PMU goes,
which counts cycles and taken branches.
"""

import mmap
import os
import unittest

from guest import Daemon, Program, built, wait_for

BUSY = built("tests/simulator/programs/simulated-chain"), "4000000000"


def samples(daemon):
    """Of each process."""
    top = daemon.ask("top", daemon.all_windows(), "--by", "process")
    return {row["pid"]: row["self"] for row in top["rows"]}


class Chosen(unittest.TestCase):
    def check_branches(self, event):
        """Taken branches, by their code: sampled with branch records, as by their name."""
        with Program(0, *BUSY) as program, \
                Daemon(f"Event={event}\nPeriod=1000003\nKernel=no\nPids={program.pid}") as daemon:
            sampling = daemon.sampling()
            self.assertEqual((sampling["running"], sampling["mode"], sampling["event"], sampling["period"]),
                             (True, "stack+branch", event, 1000003), sampling)
            wait_for(lambda: samples(daemon).get(program.pid, 0) > 50, "samples")
            top = daemon.ask("top", daemon.all_windows(), "--by", "branch")
            self.assertGreater(top["totals"]["rows"], 0)
            self.assertIn(event, daemon.call("status").stdout)

    def test_by_code(self):
        self.check_branches("r20c4")

    def test_by_fields_of_the_pmu(self):
        self.check_branches("cpu/event=0x20c4/")

    def test_of_the_kernel(self):
        with Daemon("Event=page-faults\nPeriod=1") as daemon:
            sampling = daemon.sampling()
            self.assertEqual((sampling["mode"], sampling["event"]), ("software", "page-faults"), sampling)
            with mmap.mmap(-1, 400 * 4096) as memory:  # each page at its first byte
                for page in range(400):
                    memory[page * 4096] = 1
            wait_for(lambda: samples(daemon).get(os.getpid(), 0) >= 100, "its page faults")

    def test_what_the_pmu_has_not(self):
        for event, why in (("branch-misses", "the PMU does not count it"), ("r1b1", "Invalid argument"),
                           ("cycles:p", "no such precision"), ("cpu/umask=1/", "'umask' is no field"),
                           ("cpu_atom/event=1/", "use one of cpu")):
            with Daemon(f"Event={event}") as daemon:
                status = daemon.call("status").stdout
                self.assertFalse(daemon.sampling()["running"], event)
                self.assertIn(f"Event={event}: ", status)
                self.assertIn(why, " ".join(status.split()))


class Cpus(unittest.TestCase):
    def test_only_those_that_are_listed(self):
        with Program(0, *BUSY) as other, Program(1, *BUSY) as wanted, \
                Daemon(f"CPUs=1\nKernel=no\nPids={wanted.pid} {other.pid}") as daemon:
            self.assertEqual(daemon.sampling()["n_cpus"], 1)
            wait_for(lambda: samples(daemon).get(wanted.pid, 0) > 50, "samples")
            self.assertNotIn(other.pid, samples(daemon))
