# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether CpuBudget= holds, at several rates, while the load changes from idle to many busy processes and back.

    budget.py BRANCHD BRANCHCTL [RATE...]

As root. A daemon for each RATE (99 999 4999 10000), all at once beside the same load: idle for a minute, then PROCESSES=200
busy ones for two, idle again for a minute; STEP=SECONDS, 10, of which the minute has six. CONFIG=LINES go to the section
[Sampling]; default: the daemon's own budget. Checked is what sampling took of each CPU as seen from outside: the BPF program by the kernel's
clock, and the daemon's main and counting threads by the scheduler's. Naming functions, at idle priority, is apart. The budget
holds in a phase if the average exceeds it by a fifth at most, and reaches it within a fifth where samples are left out
although the CPUs are busy. Ends with 1 if it does not hold.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

from profilers import branchd_command, program_statistics, threads

BRANCHD, BRANCHCTL = (os.path.abspath(path) for path in sys.argv[1:3])
RATES = [int(rate) for rate in sys.argv[3:]] or [99, 999, 4999, 10000]
PROCESSES = int(os.environ.get("PROCESSES", "200"))
STEP = float(os.environ.get("STEP", "10"))  # seconds
PHASES = (("idle", 0, 6), ("busy", PROCESSES, 12), ("idle again", 0, 6))  # in steps
OFF = 0.2  # of the budget
THREADS = ("branchd", "collector")


class Daemon:
    def __init__(self, rate, place):
        self.rate, self.socket, self.steps = rate, os.path.join(place, "socket"), []
        lines = ["Mode=software", f"Frequency={rate}", os.environ.get("CONFIG", "")]
        self.process = subprocess.Popen(branchd_command(BRANCHD, place, lines), stderr=subprocess.DEVNULL)
        self.last = None

    def status(self):
        return json.loads(subprocess.check_output([BRANCHCTL, "--socket", self.socket, "status", "--json"]))["cost"]

    def thread_seconds(self):
        """Of the two threads."""
        seconds = dict.fromkeys(THREADS, 0)
        for name, _, ns in threads([self.process.pid]).values():
            if name in seconds:
                seconds[name] += ns / 1e9
        return seconds

    def step(self):
        """Percent of each CPU since the last call, by part, and of the samples that are taken."""
        cost, used = self.status(), self.thread_seconds()
        now = {"at": time.monotonic(), "program": cost["bpf_ns"] / 1e9} | used
        last, self.last = self.last, now
        if last:
            elapsed = (now["at"] - last["at"]) * os.cpu_count()
            parts = {name: 100 * (now[name] - last[name]) / elapsed for name in ("program", *THREADS)}
            self.steps.append(parts | {"all": sum(parts.values()), "taken": cost["rate_percent"]})

    def check(self, budget, name, n, busy):
        steps = self.steps[-n:]
        mean = {key: sum(step[key] for step in steps) / n for key in steps[0]}
        holds = mean["all"] <= (1 + OFF) * budget
        if busy and mean["taken"] < 100 / (1 + OFF):
            holds = holds and mean["all"] >= (1 - OFF) * budget
        print(f"| {name} | {self.rate} | {mean['taken']:.1f} | {mean['program']:.3f} | {mean['collector']:.3f} | "
              f"{mean['branchd']:.3f} | {mean['all']:.3f} | {min(s['all'] for s in steps):.3f} to "
              f"{max(s['all'] for s in steps):.3f} | {'holds' if holds else 'does NOT hold'} |", flush=True)
        return holds


def run_phase(daemons, n_busy, n_steps):
    load = [subprocess.Popen(["nice", "sh", "-c", "while :; do :; done"]) for _ in range(n_busy)]
    try:
        for _ in range(n_steps):
            time.sleep(STEP)
            for daemon in daemons:
                daemon.step()
    finally:
        for child in load:
            child.kill()
        for child in load:
            child.wait()


def measure(daemons):
    time.sleep(STEP)
    budget = daemons[0].status()["budget_percent"]
    print(f"budget: {budget} % of each CPU\n\n"
          "| phase | Hz | samples taken % | BPF program % | counting % | main thread % | all % | steps | budget |\n"
          "|---|---|---|---|---|---|---|---|---|", flush=True)
    for daemon in daemons:
        daemon.step()
    holds = True
    for name, n_busy, n_steps in PHASES:
        run_phase(daemons, n_busy, n_steps)
        for daemon in daemons:
            holds = daemon.check(budget, name, n_steps, n_busy > 0) and holds
    return holds


def main():
    daemons = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        for rate in RATES:
            os.mkdir(os.path.join(folder, str(rate)))
            daemons.append(Daemon(rate, os.path.join(folder, str(rate))))
            stack.callback(daemons[-1].process.wait)
            stack.callback(daemons[-1].process.terminate)
        return measure(daemons)


with program_statistics():
    sys.exit(0 if main() else 1)
