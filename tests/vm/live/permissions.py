# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Who may sample and who may look: the two levels of kernel.perf_event_paranoid that branchd(8) speaks of, and
users with and without privileges at the socket.
"""

import os
import time
import unittest

from guest import Daemon, Program, built, wait_for, write

PATTERN = built("tests/vm/vm-pattern")
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
NOBODY, SOMEBODY, ANOTHER = 65534, 4242, 4243
SERVICE = "+perfmon,+bpf,+syslog,+sys_ptrace,+dac_read_search"  # branchd.service's without CAP_SYS_ADMIN
WITHOUT_ADMIN = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                 "--inh-caps", f"-all,{SERVICE}", "--ambient-caps", f"-all,{SERVICE}",
                 "--bounding-set", f"-all,{SERVICE}"]


class Paranoid(unittest.TestCase):
    def setUp(self):
        with open(PARANOID, encoding="ascii") as file:
            self.addCleanup(write, PARANOID, file.read())

    def check_refused(self, mode):
        with Daemon(f"Mode={mode}", WITHOUT_ADMIN, NOBODY) as daemon:
            sampling = daemon.sampling()
            self.assertFalse(sampling["running"])
            for place in sampling["reason"], daemon.said():
                self.assertIn("kernel.perf_event_paranoid is 3", place)
                self.assertIn("set it to 2 and grant CAP_PERFMON and CAP_BPF", place)
            print("    " + sampling["reason"], flush=True)

    def test_3_takes_cap_sys_admin_and_the_daemon_says_so(self):
        write(PARANOID, 3)
        self.check_refused("auto")
        self.check_refused("branch")

    def test_2_does_not(self):
        write(PARANOID, 2)
        with Program(0, PATTERN) as program:
            with Daemon(f"Pids={program.pid}", WITHOUT_ADMIN, NOBODY) as daemon:
                sampling = daemon.sampling()
                self.assertTrue(sampling["running"], sampling)
                self.assertEqual(sampling["mode"], "stack+branch")
                wait_for(lambda: daemon.ask("top", "@0")["totals"]["samples"] > 0, "samples")


class Access(unittest.TestCase):
    """As branchd.socket has it: mode 0660, and 0666 in the drop-in of branchd(8)."""

    def test_by_users(self):
        with Program(0, PATTERN, uid=SOMEBODY) as theirs, Program(1, PATTERN) as roots:
            with Daemon(f"Pids={theirs.pid} {roots.pid}") as daemon:
                self.check_closed(daemon)
                os.chmod(daemon.socket, 0o666)
                wait_for(lambda: len(self.processes(daemon)) == 2, "samples of both")
                self.assertEqual(self.processes(daemon), {theirs.pid, roots.pid})
                self.assertEqual(self.processes(daemon, SOMEBODY), {theirs.pid})
                self.assertEqual(self.processes(daemon, ANOTHER), set())
                self.check_addresses(daemon)

    def check_closed(self, daemon):
        done = daemon.call("top", uid=SOMEBODY)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))
        self.assertIn("group branchd", done.stderr)

    def processes(self, daemon, uid=0):
        return {row["pid"] for row in daemon.ask("top", "@0", "--by", "process", uid=uid)["rows"]}

    def check_addresses(self, daemon):
        """The kernel's are root's alone."""
        time.sleep(1)
        for uid, allowed in (0, True), (SOMEBODY, False):
            rows = daemon.ask("top", "@0", "--by", "stack", "-n", 0, uid=uid)["rows"]
            frames = [frame for row in rows for frame in row["frames"]]
            self.assertTrue(frames)
            known = [frame for frame in frames if int(frame["address"], 16) >> 63]
            self.assertTrue(allowed or not known, known)
