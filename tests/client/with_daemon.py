# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl with the real branchd, which samples this machine while a program of known name is busy."""

import os
import signal
import subprocess
import sys
import tempfile
import time

from real_daemon import document, start, stop, wait_for_window_after, wait_for_windows
from harness import VIEWS, check, finish, one_line, run

branchd = os.path.abspath(sys.argv[2])
BUSY = "while :; do :; done"


def check_windows(socket, windows, pid):
    last = {name: value for name, value in windows[-1].items() if name != "marks"}
    top = document(socket, "top", last["id"], "-n", "0")
    check(top["windows"] == [last], top["windows"], "is not", last)
    check(sum(row["self"] for row in top["rows"]) == top["totals"]["samples"] == last["samples"], last)
    both = document(socket, "top", f"{windows[-2]['id']}..{last['id']}")
    check(both["totals"]["samples"] == last["samples"] + windows[-2]["samples"], both["totals"])
    at = document(socket, "top", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(last["start"] + 1)))
    check(at["windows"] == [last], "by its time:", at["windows"])
    mine = document(socket, "top", last["id"], "--pid", pid, "--by", "process")
    check([row["pid"] for row in mine["rows"]] == [pid], "busy is not seen:", mine["rows"])
    check(mine["totals"]["samples"] > 0, mine["totals"])


def check_commands(socket, pid):
    for by in VIEWS:
        status, out, err = run("--socket", socket, "top", "--by", by)
        check(status == 0 and out and not err, by, status, err)
    status, out, err = run("--socket", socket, "dump", "@-1", "--pid", pid)
    check(status == 0 and f" {pid} " in out, "dump", status, err)
    check(document(socket, "top", "@0")["windows"][0]["open"], "@0 is not open")
    status, out, err = run("--socket", socket, "top", "4711000")
    check(status == 1 and not out and one_line(err), status, err)
    status, out, err = run("--socket", socket, "status")
    check(status == 0 and "sampling" in out, status, err)


def check_full_rings():
    """Small rings, and a daemon that stands still while they fill: status and the journal name the remedy."""
    with tempfile.TemporaryDirectory() as folder:
        daemon, socket = start(branchd, folder, "RingSize=4K")
        with subprocess.Popen(["sh", "-c", BUSY]) as busy:
            while document(socket, "status")["samples"]["ring_full"] == 0:
                daemon.send_signal(signal.SIGSTOP)
                time.sleep(1)
                daemon.send_signal(signal.SIGCONT)
                time.sleep(0.5)
            busy.kill()
        wait_for_window_after(socket, time.time())
        _, out, _ = run("--socket", socket, "status")
        said = stop(daemon)
    check("the ring was full" in out and "a larger RingSize= in branchd.conf" in out, "status:", out)
    lines = [line for line in said.splitlines() if "ring was full" in line]
    check(len(lines) == 1 and "RingSize=" in lines[0], "the journal:", said)


check_full_rings()
with tempfile.TemporaryDirectory() as state:
    process, path = start(branchd, state)
    with subprocess.Popen(["sh", "-c", BUSY]) as busy:
        check_windows(path, wait_for_windows(path, 3), busy.pid)
        check_commands(path, busy.pid)
        busy.kill()
    stop(process)
finish()
