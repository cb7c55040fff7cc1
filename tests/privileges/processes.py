# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether each process that runs has what the table in docs/architecture.md says, and no more:
processes.py BRANCHD. Needs root and BPF, and is skipped without."""
import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from table import CAPABILITIES, mask_of, read_table

BRANCHD = os.path.abspath(sys.argv.pop(1))
PATIENCE = 120  # seconds
SKIPPED = 77
SETS = "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"
LIMITS = {"core": "Max core file size", "fsize": "Max file size", "as": "Max address space"}


def read_status(path):
    """{field: text}"""
    with open(path, encoding="utf-8", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def read_limits(pid):
    """{limit: its soft and its hard value}"""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        text = file.read()
    return {name: re.search(rf"^{title} +(\w+) +(\w+)", text, re.M).groups() for name, title in LIMITS.items()}


def descendants(pid):
    """The process and all below it: {pid: status}"""
    found = {}
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = read_status(f"/proc/{name}/status")
        except OSError:
            continue
        children.setdefault(int(status["PPid"]), []).append((int(name), status))
        if int(name) == pid:
            found[pid] = status
    waiting = [pid]
    while waiting:
        for child, status in children.get(waiting.pop(), []):
            found[child] = status
            waiting.append(child)
    return found


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = read_table()
        cls.place = tempfile.TemporaryDirectory(prefix="privileges-")
        config = os.path.join(cls.place.name, "x.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write("[Store]\nWindowSec=1s\n")
        cls.daemon = subprocess.Popen([BRANCHD, "--config", config, "--state-directory", cls.place.name,
                                       "--socket", cls.place.name + "/socket"],
                                      stderr=subprocess.DEVNULL, close_fds=True)
        cls.seen = {}
        cls.wait_for_all()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.send_signal(signal.SIGTERM)
        cls.daemon.wait(PATIENCE)
        cls.place.cleanup()

    @classmethod
    def wait_for_all(cls):
        """Until each process of the table has been seen past its start. A program of our own gives it work."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and set(cls.seen) != set(cls.table):
            subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
            for pid, status in descendants(cls.daemon.pid).items():
                name = status["Name"]
                parent = {"branchd": os.getpid(), "branchd-launch": cls.daemon.pid}.get(name)
                if parent not in (None, int(status["PPid"])): # a helper that is not executed yet
                    continue
                always = cls.table.get(name, {}).get("seccomp") == "always"
                if not always or status["Seccomp"] == "2": # it limits itself once it runs
                    cls.seen[name] = (pid, status, read_limits(pid))

    def test_all_of_the_table_run_and_no_others(self):
        self.assertEqual(sorted(self.seen), sorted(self.table))

    def test_capabilities(self):
        for name, (_, status, _) in self.seen.items():
            allowed = mask_of(self.table[name]["capabilities"])
            for each in SETS:
                self.assertEqual(f"{int(status[each], 16):x}", f"{allowed:x}", (name, each))

    def test_threads_are_like_their_process(self):
        for task in os.listdir(f"/proc/{self.daemon.pid}/task"):
            status = read_status(f"/proc/{self.daemon.pid}/task/{task}/status")
            for each in SETS:
                self.assertEqual(int(status[each], 16), mask_of(self.table["branchd"]["capabilities"]),
                                 (status["Name"], each))

    def test_branchd_keeps_nothing_dangerous(self):
        for name in "CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH":
            for each in SETS:
                self.assertFalse(int(self.seen["branchd"][1][each], 16) >> CAPABILITIES[name] & 1, name)

    def test_no_new_privileges(self):
        for name, (_, status, _) in self.seen.items():
            self.assertEqual(status["NoNewPrivs"], "1", name)

    def test_seccomp(self):
        for name, (_, status, _) in self.seen.items():
            self.assertEqual(status["Seccomp"] == "2", self.table[name]["seccomp"] == "always", name)

    def test_the_parser_is_another_user(self):
        try:
            expected = pwd.getpwnam("branchd-parser").pw_uid
        except KeyError:
            expected = 65534
        for name, (_, status, _) in self.seen.items():
            uid = expected if name == "branchd-parser" else os.geteuid()
            self.assertEqual(status["Uid"].split(), [str(uid)] * 4, name)

    def test_limits(self):
        for name, (_, _, limits) in self.seen.items():
            for limit in self.table[name]["limits"].split():
                key, value = limit.split("=")
                self.assertEqual(limits[key], (value, value), (name, key))


if __name__ == "__main__":
    if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
        print("skipped: it needs root and BPF")
        sys.exit(SKIPPED)
    unittest.main()
