# SPDX-License-Identifier: LGPL-2.1-or-later
"""The budget of sampling, with the real daemon: cpu_budget.py BRANCHCTL BRANCHD TWO-PHASES.

A rate that takes many times the budget is lowered. What was counted at all rates adds up
to what the program ran, and its functions keep their shares. When the kernel throttles sampling the rate is lowered,
and branchd says so.
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
FREQUENCY, SECONDS = 3989, 15  # the latter of each phase, of the CPU's time
EXPECTED = {"red": 62.5, "blue": 37.5}
POINTS = 6  # the second phase has few samples
OFF = 0.1   # of the program's time
MAX_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def check_program(socket, pid, seconds):
    top = document(socket, "top", "1..", "--pid", pid, "-n", "0")
    samples, all_samples = top["totals"]["samples"], document(socket, "top", "1..")["totals"]
    print(f"{samples} samples of {seconds:.1f} s; of all {all_samples['samples']}, "
          f"{all_samples['samples_estimated']} are estimated")
    check(all_samples["samples_estimated"] > all_samples["samples"] / 3, "few are estimated", all_samples)
    lost = all_samples["lost_samples"] + all_samples["skipped"]
    check(abs(samples / (FREQUENCY * seconds) - 1) < OFF + lost / all_samples["samples"], samples, "samples of",
          seconds, "s;", lost, "lost")
    weight = top["totals"]["weight"] / 1e9  # by the clock: what each sample stands for, in seconds
    check(abs(weight / seconds - 1) < OFF + lost / all_samples["samples"], "the periods add up to", weight, "s")
    own = {row["symbol"]: row["self"] for row in top["rows"] if row["symbol"] in EXPECTED}
    for name, percent in EXPECTED.items():
        share = 100 * own.get(name, 0) / sum(own.values())
        check(abs(share - percent) < POINTS, name, share, "is not", percent)


def may_set_max_rate(rate):
    """The kernel refuses it where perf_cpu_time_max_percent is 0 or 100."""
    try:
        with open(MAX_RATE, "w", encoding="ascii") as file:
            file.write(rate)
    except OSError as error:
        print("throttling is not tested:", error)
        return False
    return True


def lower_max_rate(address, before):
    """One sample a tick, until one has been throttled; then as @before."""
    try:
        with open(MAX_RATE, "w", encoding="ascii") as file:
            file.write("100")
        wait_until(address, lambda _: document(address, "status")["samples"]["throttled"] > 0)
    finally:
        with open(MAX_RATE, "w", encoding="ascii") as file:
            file.write(before)


def check_throttled(place, rate):
    """A budget that is never reached: only the kernel's throttling lowers the rate."""
    daemon, address = start(BRANCHD, place, f"Mode=software\nFrequency={FREQUENCY}\nCpuBudget=100%")
    try:
        with subprocess.Popen([TWO_PHASES, str(SECONDS)]) as program:
            wait_until(address, lambda closed: len(closed) > 2)
            check(document(address, "status")["cost"]["rate_percent"] == 100, "the rate is lowered without reason")
            lower_max_rate(address, rate)
            wait_until(address, lambda _: document(address, "status")["cost"]["rate_percent"] <= 50)
            out = run("--socket", address, "status")[1]
            program.kill()
        check("throttled by the kernel" in out, "status does not say who throttles", out)
        check("as the kernel throttles" in out, "status does not say why the rate is lowered", out)
    finally:
        said = stop(daemon)
    check("the kernel throttled sampling" in said, "the log does not say who throttles:", said)
    check("CpuBudget=" not in said, "the log says that the budget lowers the rate:", said)


with tempfile.TemporaryDirectory() as folder:
    daemon, address = start(BRANCHD, folder, f"Mode=software\nFrequency={FREQUENCY}\nCpuBudget=0.5%")
    try:
        with subprocess.Popen([TWO_PHASES, str(SECONDS)]) as program:
            wait_until(address, lambda _: document(address, "status")["cost"]["hour_sampling_percent"]
                       or program.poll() is not None)
            cost = document(address, "status")["cost"]
            check(cost["rate_percent"] < 50 and cost["budget_percent"] == 0.5, cost)
            check(cost["hour_sampling_percent"] > 0, cost)
            check(0 < cost["hour_rate_percent"] <= 100, cost)
            out = run("--socket", address, "status")[1]
            check("in the last hour: " in out, "status says nothing of the hour", out)
            check("is taken, and counts as that many" in out, "status says nothing of it", out)
            _, _, used = os.wait4(program.pid, 0)
            program.returncode = 0
        wait_for_window_after(address, time.time())
        check_program(address, program.pid, cpu_seconds(used))
        out = run("--socket", address, "top", "1..")[1]
        check("estimated, as CpuBudget= left them out" in out, "top says nothing of the budget:", out[:300])
    finally:
        log = stop(daemon)
    check("CpuBudget=0.5%" in log, "the log says nothing of the budget:", log)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which restores the rate
with open(MAX_RATE, encoding="ascii") as max_rate:
    rate = max_rate.read()
if may_set_max_rate(rate):
    with tempfile.TemporaryDirectory() as folder:
        check_throttled(folder, rate)
finish()
