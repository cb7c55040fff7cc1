# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much profilers slow down what runs: slowdown.py BRANCHD

Two fixed works run all the time, each on a CPU of its own. A profiler samples one of them and runs there itself, for
SECONDS_EACH=3.5 from WARM_UP=1.5 seconds after its start on, and then the same on the other CPU. The measure is the CPU time
that the works need for a unit, with what interrupts and lost caches cost them: half the difference of the two logarithms of
their ratio. So the control is the other work at the very same time, and neither a difference between the two CPUs nor a change
of pace of the whole machine counts.

perf record -g is compared with nothing, and branchd with perf record, which samples the other CPU meanwhile: with
CpuBudget=infinity, and with its default of 0.2 %, in its first window. The slowdown of branchd is the sum. In each of ROUNDS=8,
at each of RATES="999 4999", each is compared once; every other round goes backwards (ABBA). The mean of the rounds has its
interval of 95 % (Student's t). Prints a table of Markdown.

Takes some (SECONDS_EACH + WARM_UP + 1) * 6 seconds a rate and round: ten minutes. Needs root, BPF, perf, and two CPUs for itself:
what else runs widens the intervals. In short:

    ROUNDS=2 SECONDS_EACH=1 RATES=999 slowdown.py build-release/daemon/branchd
"""
import contextlib
import itertools
import math
import multiprocessing
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from profilers import branchd_command, branchd_status, ends, perf_command

BRANCHD = os.path.abspath(sys.argv[1])
RATES = [int(rate) for rate in os.environ.get("RATES", "999 4999").split()]
ROUNDS = int(os.environ.get("ROUNDS", "8"))
WARM_UP = float(os.environ.get("WARM_UP", "1.5"))
SECONDS = float(os.environ.get("SECONDS_EACH", "3.5"))
PAIRS = (("perf", None), ("branchd", "perf"), ("budget", "perf"))
NAMES = {"perf": "perf record -g", "branchd": "branchd, no budget", "budget": "branchd, 0.2 %"}
MAX_END = 20  # seconds to end on a signal
# of Student's t, two-sided 95 %, by degrees of freedom
T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09)


class Work:
    """Runs all the time on one CPU, and counts its units and their CPU time."""

    def __init__(self, cpu):
        self.cpu, self.done = cpu, multiprocessing.Array("d", 2)
        self.process = multiprocessing.Process(target=self.run, daemon=True)
        self.process.start()

    def run(self):
        os.sched_setaffinity(0, {self.cpu})
        f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)  # noqa: E731
        while True:
            f(16)
            with self.done.get_lock():
                self.done[0] += 1
                self.done[1] = time.process_time()

    def read(self):
        with self.done.get_lock():
            return tuple(self.done)


class Profiler:
    """Of one CPU, and on it."""

    def __init__(self, tool, rate, cpu):
        self.tool, self.place = tool, tempfile.mkdtemp(prefix="branchd-slowdown-")
        if tool == "perf":
            command = perf_command(rate, self.place, "-g", "-C", str(cpu))
        else:
            lines = ["Mode=software", f"Frequency={rate}", f"CPUs={cpu}", *(["CpuBudget=infinity"] if tool == "branchd" else [])]
            command = branchd_command(BRANCHD, self.place, lines)
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        ends(self.process, MAX_END)
        shutil.rmtree(self.place)

    def count(self):
        """Of the samples it captured. A perf ends by that."""
        if self.tool != "perf":
            return branchd_status(self.place)["samples"]["written"]
        self.process.send_signal(signal.SIGINT)
        if not ends(self.process, MAX_END):
            sys.exit("perf record did not end")
        command = ["perf", "report", "--stats", "-i", self.place + "/perf.data"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return int(re.search(r"SAMPLE events: *(\d+)", printed)[1])


def ratio(works, tools, rate, counts):
    """The logarithm of that of the CPU time of a unit, the first work's to the second's, each with its tool."""
    with contextlib.ExitStack() as stack:
        began = time.monotonic()
        profilers = [stack.enter_context(Profiler(tool, rate, work.cpu)) for tool, work in zip(tools, works) if tool]
        time.sleep(WARM_UP)
        before = [work.read() for work in works]
        time.sleep(SECONDS)
        after = [work.read() for work in works]
        for profiler in profilers:
            took = time.monotonic() - began  # before count(), which takes its time for perf
            counts.setdefault((profiler.tool, rate), []).append(profiler.count() / took)
    units = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(before, after)]
    return math.log(units[0] / units[1])


def compare(works, pair, rate, counts, backwards):
    """By how many percent the first slows down more than the second."""
    orders = (pair[::-1], pair) if backwards else (pair, pair[::-1])
    ratios = {tools: ratio(works, tools, rate, counts) for tools in orders}
    return 50 * (ratios[pair] - ratios[pair[::-1]])


def interval(values):
    if len(values) < 2:
        return f"{values[0]:.2f}"
    half = T[min(len(values) - 2, len(T) - 1)] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.2f} ± {half:.2f}"


def show(values, counts):
    print(f"\n{ROUNDS} rounds, {SECONDS:g} s on each CPU\n\n"
          "| Hz | profiler | samples a second | slowdown % | less that of perf % |\n|---|---|---|---|---|")
    for rate, (tool, other) in itertools.product(RATES, PAIRS):
        beyond = values[tool, rate]
        slowdown = [a + b for a, b in zip(beyond, values[other, rate])] if other else beyond
        print(f"| {rate} | {NAMES[tool]} | {statistics.mean(counts[tool, rate]):.0f} | {interval(slowdown)} | "
              f"{interval(beyond) if other else ''} |")


def main():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        sys.exit("two CPUs are needed")
    works = [Work(cpus[0]), Work(cpus[-1])]  # neighbours may be of one core
    values, counts = {}, {}
    for number in range(ROUNDS):
        turns = list(itertools.product(RATES, PAIRS))
        for rate, pair in turns[::-1] if number % 2 else turns:
            value = compare(works, pair, rate, counts, number % 2)
            values.setdefault((pair[0], rate), []).append(value)
            print(f"round {number + 1}, {rate} Hz, {pair[0]}: {value:.2f}", file=sys.stderr, flush=True)
    show(values, counts)


# A shell's commands in the background ignore it, as would the profilers, which are to end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
main()
