# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd installed, under systemd, in the guest: what an administrator does with it, and what its users see."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
import unittest

from guest import answer, as_user, built, wait_for, write

DROP_INS = "/etc/branchd/branchd.conf.d"
SERVICE = "/etc/systemd/system/branchd.service.d/"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
EVENTS = "/etc/systemd/system/branchd-events@.service.d/"
CAPABILITIES = "CAP_PERFMON CAP_BPF CAP_SYSLOG"
SOMEBODY = 4242
PHASES = "/run/phases"  # the output of the program
PHASE = 8             # seconds, at least: enough for whole windows in each
POINTS = 8            # by how much a share may be off: windows are parts of the phases


def run(*command, uid=0):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          **as_user(uid))


def systemctl(*arguments):
    done = run("systemctl", *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


def shows(name, unit="branchd.service"):
    return systemctl("show", "--value", "-p", name, unit)


def branchctl(*arguments, uid=0):
    return answer(lambda: run("branchctl", *map(str, arguments), uid=uid))


def ask(*arguments, uid=0):
    return json.loads(branchctl(*arguments, "--json", uid=uid))


def drop_in(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, text)


HELPERS = "events", "opener", "parser"


def instances(name="*"):
    """The helpers that run."""
    listed = systemctl("list-units", "--plain", "--no-legend", "--state=active",
                       f"branchd-{name}@*.service")
    return [line.split()[0] for line in listed.splitlines()]


def capabilities(pid):
    """All sets of them."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return [int(text, 16) for text in re.findall(r"^Cap\w+:\s*(\w+)$", file.read(), re.M)]


class Installed(unittest.TestCase):
    """In the order of their names: each goes on from the one before."""

    def configure(self, window):
        """One unit alone, and no kernel, of whose part in all an emulator has its own idea."""
        drop_in(DROP_INS + "/guest.conf", f"[Sampling]\nFrequency=499\nCpuBudget=infinity\nKernel=no\nUnits=phases.service\n"
              f"[Store]\nWindowSec={window}s\n"
              "[Symbols]\nRemoteFilesystems=yes\n")  # the programs lie on 9p

    def test_1_the_socket_starts_it(self):
        self.configure(1)
        write(PARANOID, 3)  # as Debian has it
        systemctl("start", "branchd.socket")
        self.assertEqual(shows("ActiveState"), "inactive")
        sampling = ask("status")["sampling"]
        self.assertEqual((sampling["running"], sampling["mode"]), (True, "stack+branch"), sampling)
        self.assertEqual(shows("ActiveState"), "active")

    def test_2_top_and_dump(self):
        systemctl("start", "branchd")
        done = run("systemd-run", "--unit=phases", "-p", "StandardOutput=file:" + PHASES,
                   built("tests/live/two-phases"), "calls", "8000", str(PHASE))
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = int(shows("MainPID", "phases.service"))
        wait_for(lambda: ask("top", "-1h..")["totals"]["samples"] > 500, "samples")
        # an emulated machine takes a while to name what runs
        wait_for(lambda: {"red", "blue"} <= {row["symbol"] for row in ask("top", "-1h..")["rows"][:6]},
                 "the names of what runs")
        self.assertEqual([row["unit"] for row in ask("top", "-1h..", "--by", "unit")["rows"]],
                         ["phases.service"])
        self.assertIn(f" {pid} ", branchctl("dump", "-1h..", "--pid", pid))

    def phases(self):
        """Of each phase that is over, when it ended and how much of it was spent in red(), as the program says."""
        with open(PHASES, encoding="ascii") as file:
            return [(float(end), float(percent)) for end, percent in
                    re.findall(r"until ([\d.]+), .*red ([\d.]+) %", file.read())]

    def test_3_diff_names_what_got_dearer(self):
        wait_for(lambda: len(self.phases()) == 2, "both phases end")
        middle, end = (end for end, _ in self.phases())
        # a window may wait for the names of its samples
        wait_for(lambda: any(not w["open"] and w["start"] >= end for w in ask("windows")["windows"]),
                 "the windows of both phases are stored")
        windows = [w for w in ask("windows")["windows"] if not w["open"] and w["samples"]]
        old = [w["id"] for w in windows if w["start"] + w["length"] <= middle]
        new = [w["id"] for w in windows if w["start"] >= middle]
        self.assertTrue(old and new, (self.phases(), windows))
        phases = f"{old[0]}..{old[-1]}", f"{new[0]}..{new[-1]}"
        print(branchctl("diff", *phases, "-n", 3), flush=True)
        dearer = max(ask("diff", *phases)["functions"], key=lambda row: row["delta_percent"])
        self.assertEqual((dearer["new"]["symbol"], dearer["significant"]), ("red", True), dearer)
        print("    red, as the program says:", [percent for _, percent in self.phases()], flush=True)
        for side, (_, percent) in zip(("old", "new"), self.phases()):
            self.assertAlmostEqual(dearer[side]["self_percent"], percent, delta=POINTS)

    def test_4_reload(self):
        self.configure(7)
        systemctl("reload", "branchd")
        wait_for(lambda: "windows of 7 s" in branchctl("status"), "windows of 7 s")

    def test_5_users(self):
        done = run("branchctl", "top", uid=SOMEBODY)
        self.assertEqual(done.returncode, 1)
        self.assertIn("group branchd", done.stderr)
        drop_in("/etc/systemd/system/branchd.socket.d/local.conf", "[Socket]\nSocketMode=0666\n")
        systemctl("daemon-reload")
        systemctl("stop", "branchd.service")
        systemctl("restart", "branchd.socket")
        systemctl("start", "branchd.service")
        self.assertEqual(ask("top", "-1h..", uid=SOMEBODY)["rows"], [])
        self.assertTrue(ask("top", "-1h..")["rows"])

    def test_6_the_watchdog(self):
        drop_in(SERVICE + "local.conf", "[Service]\nWatchdogSec=20s\nRestartSec=1s\n")
        systemctl("daemon-reload")
        systemctl("restart", "branchd")
        os.kill(int(shows("MainPID")), signal.SIGSTOP)
        wait_for(lambda: shows("NRestarts") != "0", "it is started again")
        wait_for(lambda: shows("ActiveState") == "active", "it is up again")

    def test_7_stop(self):
        systemctl("stop", "branchd.service")
        self.assertEqual((shows("Result"), shows("ExecMainStatus")), ("success", "0"))
        self.assertTrue(os.path.exists("/var/lib/branchd/branchd.db"))

    def test_7_what_ran_before_it_is_named(self):
        """Its mappings come from the opener, which copies them into memory."""
        done = run("systemd-run", "--unit=phases", built("tests/live/two-phases"), "60")
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = int(shows("MainPID", "phases.service"))
        systemctl("start", "branchd.service")

        def names():
            done = run("branchctl", "top", "-1h..", "--pid", str(pid), "--json")
            return {row["symbol"] for row in json.loads(done.stdout)["rows"]} if done.returncode == 0 else set()

        wait_for(lambda: {"red", "blue"} & names(), "the names of what ran before")
        systemctl("stop", "phases.service")

    def test_8_without_cap_sys_admin(self):
        """As the unit of the helper says: where the level is 2, and no more."""
        drop_in(EVENTS + "capabilities.conf", f"""[Service]
            CapabilityBoundingSet=
            CapabilityBoundingSet={CAPABILITIES}
            AmbientCapabilities=
            AmbientCapabilities={CAPABILITIES}
            """)
        systemctl("daemon-reload")
        for level, runs in (2, True), (3, False):
            write(PARANOID, level)
            systemctl("restart", "branchd")
            sampling = ask("status")["sampling"]
            self.assertEqual(sampling["running"], runs, sampling)
        self.assertIn("kernel.perf_event_paranoid is 3", sampling["reason"])
        os.unlink(EVENTS + "capabilities.conf")
        systemctl("daemon-reload")
        systemctl("restart", "branchd")
        self.assertTrue(ask("status")["sampling"]["running"])

    def test_9_security(self):
        for unit in ["branchd.service", *instances()]:
            done = run("systemd-analyze", "--no-pager", "security", "--threshold=18", unit)
            print("   ", done.stdout.strip().splitlines()[-1], flush=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_9_privileges(self):
        """branchd has none, and no helper more than its unit says."""
        self.assertEqual(capabilities(shows("MainPID")), [0] * 5)
        allowed = {"events": 0xc400200000, "opener": 0x10000080004, "parser": 0}
        seen = set()
        for unit in instances():
            kind = unit.split("@")[0].removeprefix("branchd-")
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a helper may end at any time
                self.assertEqual([c & ~allowed[kind] for c in capabilities(shows("MainPID", unit))], [0] * 5, unit)
                seen.add(kind)
        self.assertIn("events", seen)

    def test_9_what_is_killed_is_replaced(self):
        """Helpers start again when they are needed, and no socket is in failure."""
        # that of the first test may have ended; if not, this fails and does no harm
        run("systemd-run", "--unit=phases", built("tests/live/two-phases"), "30")
        killed = set()
        for name in HELPERS:
            for unit in instances(name):
                pid = int(shows("MainPID", unit))  # a helper may end at any time, also for want of another
                with contextlib.suppress(ProcessLookupError):
                    if pid > 0:
                        os.kill(pid, signal.SIGKILL)
                        killed.add(name)
        self.assertIn("events", killed)
        samples = ask("status")["samples"]["written"]
        wait_for(lambda: ask("status")["samples"]["written"] > samples + 100, "samples come")
        for name in HELPERS:
            self.assertEqual(shows("ActiveState", f"branchd-{name}.socket"), "active")
        self.assertEqual(shows("ActiveState"), "active")


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
