# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd installed, under systemd, in the guest: what an administrator does with it, and what its users see."""

import json
import os
import signal
import subprocess
import unittest

from guest import answer, as_user, built, wait_for, write

DROP_INS = "/etc/branchd/branchd.conf.d"
SOMEBODY = 4242


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


class Installed(unittest.TestCase):
    """In the order of their names: each goes on from the one before."""

    def configure(self, window):
        """One unit alone, and no kernel, of whose part in all an emulator has its own idea."""
        drop_in(DROP_INS + "/guest.conf", f"[Sampling]\nFrequency=499\nKernel=no\nUnits=phases.service\n"
              f"[Store]\nWindowSec={window}s\n")

    def test_1_the_socket_starts_it(self):
        self.configure(5)
        systemctl("start", "branchd.socket")
        self.assertEqual(shows("ActiveState"), "inactive")
        sampling = ask("status")["sampling"]
        self.assertEqual((sampling["running"], sampling["mode"]), (True, "stack+branch"), sampling)
        self.assertEqual(shows("ActiveState"), "active")

    def test_2_top_and_dump(self):
        systemctl("start", "branchd")
        done = run("systemd-run", "--unit=phases", built("tests/live/two-phases"), "15")
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = int(shows("MainPID", "phases.service"))
        wait_for(lambda: ask("top", "-1h..")["totals"]["samples"] > 500, "samples")
        names = {row["symbol"] for row in ask("top", "-1h..")["rows"][:6]}
        self.assertIn("red", names)
        self.assertIn("blue", names)
        self.assertEqual([row["unit"] for row in ask("top", "-1h..", "--by", "unit")["rows"]],
                         ["phases.service"])
        self.assertIn(f" {pid} ", branchctl("dump", "-1h..", "--pid", pid))

    def test_3_diff_names_what_got_dearer(self):
        """The first third of the windows is in the first phase, the last in the second."""
        wait_for(lambda: run("systemctl", "is-active", "phases").stdout != "active\n", "both phases end")
        ids = [w["id"] for w in ask("windows")["windows"] if not w["open"] and w["samples"] > 100]
        third = len(ids) // 3
        phases = f"{ids[0]}..{ids[third - 1]}", f"{ids[-third]}..{ids[-1]}"
        print(branchctl("diff", *phases, "-n", 3), flush=True)
        dearer = max(ask("diff", *phases)["functions"], key=lambda row: row["delta_percent"])
        self.assertEqual((dearer["new"]["symbol"], dearer["significant"]), ("red", True), dearer)

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
        drop_in("/etc/systemd/system/branchd.service.d/local.conf", "[Service]\nWatchdogSec=20s\nRestartSec=1s\n")
        systemctl("daemon-reload")
        systemctl("restart", "branchd")
        os.kill(int(shows("MainPID")), signal.SIGSTOP)
        wait_for(lambda: shows("NRestarts") != "0", "it is started again")
        wait_for(lambda: shows("ActiveState") == "active", "it is up again")

    def test_7_stop(self):
        systemctl("stop", "branchd.service")
        self.assertEqual((shows("Result"), shows("ExecMainStatus")), ("success", "0"))
        self.assertTrue(os.path.exists("/var/lib/branchd/branchd.db"))

    def test_8_security(self):
        systemctl("start", "branchd")
        done = run("systemd-analyze", "--no-pager", "security", "--threshold=23", "branchd.service")
        print("   ", done.stdout.strip().splitlines()[-1], flush=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
