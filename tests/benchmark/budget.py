# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether CpuBudget= holds while the load changes from idle to many busy processes and back.

    budget.py BRANCHD BRANCHCTL [PROCESSES [CONFIG-LINE...]]

As root; 200 processes; STEP=SECONDS, 10. CONFIG-LINEs go to the section [Sampling]; default: Frequency=4999,
CpuBudget=0.2%. Prints, for each step, what sampling took of each CPU as seen from outside (the daemon's main and
counting threads, in /proc, and the BPF program by the kernel's clock), and the rate; at the end the averages of each
phase's last half.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

branchd, branchctl = sys.argv[1:3]
processes = int(sys.argv[3]) if len(sys.argv) > 3 else 200
lines = sys.argv[4:] or ["Frequency=4999", "CpuBudget=0.2%"]
PHASES = (("idle", 0, 6), ("busy", processes, 15), ("idle again", 0, 12))  # in steps
STEP = float(os.environ.get("STEP", "10"))  # seconds
STATS = "/proc/sys/kernel/bpf_stats_enabled"


def thread_seconds(pid):
    """Of the main thread and the collector; the scheduler's own sums, in nanoseconds."""
    seconds = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as file:
            name = file.read().strip()
        if int(task) == pid or name == "collector":
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                seconds += int(file.read().split()[0]) / 1e9
    return seconds


def status(socket):
    return json.loads(subprocess.check_output([branchctl, "--socket", socket, "status", "--json"]))["cost"]


def step(daemon, socket, seconds):
    """Share of each CPU in percent, and the rate."""
    before, program, start = thread_seconds(daemon.pid), status(socket)["bpf_ns"], time.monotonic()
    time.sleep(seconds)
    cost, elapsed = status(socket), time.monotonic() - start
    used = thread_seconds(daemon.pid) - before + (cost["bpf_ns"] - program) / 1e9
    return 100 * used / elapsed / os.cpu_count(), cost["rate_percent"]


def run_phase(daemon, socket, name, n, steps):
    load = [subprocess.Popen(["nice", "sh", "-c", "while :; do :; done"]) for _ in range(n)]
    shares = []
    try:
        for i in range(steps):
            share, rate = step(daemon, socket, STEP)
            shares.append(share)
            print(f"{name:10} {(i + 1) * STEP:4.0f} s {share:8.3f} % of each CPU, at {rate:6.2f} % of the rate",
                  flush=True)
    finally:
        for child in load:
            child.kill()
        for child in load:
            child.wait()
    late = shares[len(shares) // 2:]
    return f"{name}: {sum(late) / len(late):.3f} %"


def main(place):
    socket, config = os.path.join(place, "socket"), os.path.join(place, "branchd.conf")
    with open(config, "w", encoding="ascii") as file:
        file.write("[Sampling]\nMode=software\n" + "\n".join(lines) + "\n[Store]\nWindowSec=2\n")
    with subprocess.Popen([branchd, "--config", config, "--state-directory", place, "--socket", socket]) as daemon:
        try:
            time.sleep(STEP)
            print("\n".join([run_phase(daemon, socket, *phase) for phase in PHASES]))
        finally:
            daemon.terminate()


with open(STATS, "r+", encoding="ascii") as stats:
    stats_before = stats.read()
    stats.seek(0)
    stats.write("1")
try:
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
finally:
    with open(STATS, "w", encoding="ascii") as stats:
        stats.write(stats_before)
