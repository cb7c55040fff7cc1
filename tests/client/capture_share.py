# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stacks of few samples, with the real daemon: capture_share.py BRANCHCTL BRANCHD TWO-PHASES.

With CaptureShare=15% at least five times fewer samples are captured than taken, and nothing else is lost: what a
program ran, and the shares of its functions, come from all samples, and their callers from those captured.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from real_daemon import document, start, stop, wait_for_window_after, wait_until
from harness import check, finish, run

BRANCHD, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[2:4])
FREQUENCY, SECONDS = 1999, 4  # the latter of each phase, of the CPU's time
EXPECTED = {"red": 62.5, "blue": 37.5}
POINTS = 3  # five standard deviations of 16000 samples, and what their clock is off
OFF = 0.05  # of the program's time


def check_samples(socket, pid, seconds):
    top = document(socket, "top", "1..", "--pid", pid, "-n", "0")
    samples, everything = top["totals"]["samples"], document(socket, "top", "1..")["totals"]
    ticked = everything["samples_ticked"] / everything["samples"]
    lost = (everything["lost_samples"] + everything["skipped"]) / everything["samples"]
    print(f"{samples} samples of {seconds:.1f} s; {100 * ticked:.1f} % of all are ticks, {100 * lost:.1f} % lost")
    check(0.82 < ticked < 0.88, "15 % were to be captured, and", ticked, "are ticks")
    check(abs(samples / (FREQUENCY * seconds) - 1) < OFF + lost, samples, "samples of", seconds, "s")
    own = {row["symbol"]: row["self"] for row in top["rows"] if row["symbol"] in EXPECTED}
    total = {row["symbol"]: row["total"] for row in top["rows"]}
    for name, percent in EXPECTED.items():
        share = 100 * own.get(name, 0) / sum(own.values())
        check(abs(share - percent) < POINTS, name, share, "is not", percent)
    check(total.get("main", 0) > 0.97 * sum(own.values()), "callers are missing:", total)
    stacks = document(socket, "top", "1..", "--pid", pid, "--by", "stack", "-n", "0")
    check(sum(row["samples"] for row in stacks["rows"]) == samples, "stacks do not add up to", samples)


def check_status(socket):
    status = document(socket, "status")
    samples = status["samples"]
    check(status["sampling"]["capture_percent"] == 15, status["sampling"])
    check(samples["ticked"] > 0.8 * samples["taken"], samples)
    captured = samples["written"] + samples["ring_full"]
    check(captured < samples["taken"] / 5, "captures fell less than five times:", samples)
    out = run("--socket", socket, "status")[1]
    check("captured with their stacks, CaptureShare= is 15 %" in out, "status says nothing of it:", out)


def check_reload(folder, daemon, socket):
    """Another share begins at once: no sample of the sampling that then begins is a tick."""
    config = os.path.join(folder, "branchd.conf")
    with open(config, encoding="ascii") as file:
        text = file.read()
    with open(config, "w", encoding="ascii") as file:
        file.write(text.replace("CaptureShare=15%", "CaptureShare=100%"))
    daemon.send_signal(signal.SIGHUP)
    wait_until(socket, lambda _: document(socket, "status")["sampling"]["capture_percent"] == 100)
    wait_until(socket, lambda _: document(socket, "status")["samples"]["written"] > 100)
    samples = document(socket, "status")["samples"]
    check(samples["ticked"] == 0, "after a reload with CaptureShare=100%:", samples)


with tempfile.TemporaryDirectory() as folder:
    daemon, address = start(BRANCHD, folder, f"Mode=software\nFrequency={FREQUENCY}\nCaptureShare=15%")
    try:
        with subprocess.Popen([TWO_PHASES, str(SECONDS)]) as program:
            time.sleep(SECONDS / 2)
            for _ in range(5):  # parts of the open window are in it once
                document(address, "top", "@0")
            _, _, used = os.wait4(program.pid, 0)
            program.returncode = 0
        wait_for_window_after(address, time.time())
        check_samples(address, program.pid, used.ru_utime + used.ru_stime)
        check_status(address)
        out = run("--socket", address, "top", "1..")[1]
        check("% of the samples were captured with their stacks" in out, "top says nothing of it:", out[:300])
        status, out, err = run("--socket", address, "verify")
        check(status == 0, "the windows do not add up:", out, err)
        check_reload(folder, daemon, address)
    finally:
        log = stop(daemon)
    check("the stacks of 15 % of the samples" in log, "the log says nothing of it:", log)
finish()
