# SPDX-License-Identifier: LGPL-2.1-or-later
"""A branchd that samples this machine, for tests of branchctl with it."""

import json
import os
import subprocess
import sys
import time

from harness import SKIPPED, check, run


def start(branchd, folder, sampling=""):
    """The daemon and its socket, once it samples; or skips the test where it may not."""
    config = os.path.join(folder, "branchd.conf")
    socket = os.path.join(folder, "io.branchd")
    with open(config, "w", encoding="ascii") as file:
        file.write(f"[Sampling]\nFrequency=997\nCpuBudget=infinity\n{sampling}\n[Store]\nWindowSec=2s\n")
    daemon = subprocess.Popen([branchd, "--config", config, "--state-directory", folder, "--socket",
                               socket], stderr=subprocess.PIPE)
    for _ in range(3000):
        status, out, _ = run("--socket", socket, "status", "--json")
        if status == 0 and json.loads(out)["sampling"]["running"]:
            return daemon, socket
        if status == 0 or daemon.poll() is not None:
            break
        time.sleep(0.1)
    daemon.terminate()
    print("skipped: branchd does not sample here:", daemon.communicate()[1].decode())
    sys.exit(SKIPPED)


def stop(daemon):
    """What it has said."""
    daemon.terminate()
    said = daemon.communicate()[1].decode()
    check(daemon.returncode == 0, "branchd ended with", daemon.returncode)
    return said


def document(socket, *arguments):
    status, out, err = run("--socket", socket, *arguments, "--json")
    check(status == 0, arguments, status, err)
    return json.loads(out) if status == 0 else {}


def closed_windows(socket):
    return [w for w in document(socket, "windows")["windows"] if not w["open"]]


def wait_until(socket, condition):
    """The closed windows, once @condition holds of them."""
    for _ in range(3000):
        closed = closed_windows(socket)
        if condition(closed):
            return closed
        time.sleep(0.1)
    check(False, "no windows come:", closed)
    return closed


def wait_for_windows(socket, n):
    """More than @n windows."""
    return wait_until(socket, lambda closed: len(closed) > n)


def wait_for_window_after(socket, moment):
    """One that began after @moment: the windows before it hold all samples up to then."""
    return wait_until(socket, lambda closed: closed and closed[-1]["start"] > moment)
