# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host: a made-up daemon that closes windows, and the real branchd-ship, which is the second argument of each test."""

import json
import os
import signal
import subprocess
import sys
import time

import clickhouse  # noqa: F401: finds the folder of the next ones
import mock_daemon
from harness import check

SHIP = os.path.abspath(sys.argv[2])


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return check(False, "waited in vain for", what)


class Host:
    """A host's daemon and its branchd-ship."""

    def __init__(self, folder, name, port, extra=""):
        self.name, self.folder = name, os.path.join(folder, name)
        self.quoted = name.replace("'", "\\'")
        self.spool, self.status_file = self.folder + "/spool", self.folder + "/status"
        os.makedirs(self.spool)
        self.configure(port, extra)
        # the start of this day, so that no window is at the end of one
        start = (mock_daemon.now_us() // (86400 * mock_daemon.SECOND)) * 86400 * mock_daemon.SECOND
        self.next, self.start_us = 101, start
        self.daemon = mock_daemon.Daemon([mock_daemon.window(0, start, 7, True)], self.folder + "/socket")
        self.closed, self.process = [], None
        with open(self.spool + "/state", "w", encoding="utf-8") as file:
            file.write(f"100 {start - mock_daemon.LENGTH} {mock_daemon.LENGTH} 0\n")

    def configure(self, port, extra=""):
        with open(self.folder + "/ship.conf", "w", encoding="utf-8") as file:
            file.write(f"[Ship]\nUrl=http://127.0.0.1:{port}/\nHost={self.name}\nBatchSec=25\nSumSec=0\n{extra}\n")

    def start(self, **environment):
        self.process = subprocess.Popen(
            [SHIP, "--config", self.folder + "/ship.conf", "--socket", self.daemon.path, "--spool", self.spool,
             "--status-file", self.status_file], env=dict(os.environ, **environment), stderr=subprocess.PIPE, text=True)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        check(self.process.returncode == (0 if number == signal.SIGTERM else -number), self.process.returncode, err)
        return err

    def close_windows(self, n, samples=100):
        wait_for("a follower", lambda: self.daemon.followers)
        for _ in range(n):
            window = mock_daemon.window(self.next, self.start_us, samples)
            self.next += 1
            self.start_us += mock_daemon.LENGTH
            self.closed.append(window)
            self.daemon.closed(window)

    def status(self):
        done = subprocess.run([SHIP, "--status", "--json", "--status-file", self.status_file], capture_output=True, text=True,
                              check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def batched(self):
        """Windows that are in whole batches of three."""
        return self.closed[:len(self.closed) // 3 * 3]

    def functions(self):
        """What the windows count, by name."""
        counts = {}
        for window in self.batched():
            profile = mock_daemon.profile(window["samples"])
            for row in profile["stacks"]["rows"]:
                name = [f["name"] for f in profile["functions"] if int(f["start"], 16) <= int(row[3], 16) < int(f["start"], 16) + 256]
                counts[name[0]] = counts.get(name[0], 0) + row[4]
        return sorted((name, n) for name, n in counts.items() if n)
