# SPDX-License-Identifier: LGPL-2.1-or-later
"""Profilers on a busy machine, interleaved in one run: side-by-side.py BRANCHD BRANCHCTL

PROCESSES=200 processes with calls within calls keep all CPUs busy at the lowest priority, and two more start a program after the other. In each of
ROUNDS=1, at each of RATES="99 999 4999", the profilers take turns: branchd (with CpuBudget=infinity: every sample in full;
with its default of 0.2 %: budget); perf record -a -g; perf record -a --call-graph dwarf; bpftrace, which counts the same stacks; bcc's profile.
What cannot run here is said. Of each, from WARM_UP=12 seconds after its start on, for SECONDS_EACH=20:

- CPU time of its processes, as their control group counts it, and of its BPF program by the kernel's statistics;
- memory (PSS), and what its processes write to files;
- the slowdown: a fixed work runs meanwhile, again and again, and as often right after the profiler has ended. The CPU time of the pairs
  gives the mean and its interval of 95 % (Student's t). It has what interrupts take, which no profiler is charged for.

CPU time to an answer is all it takes from its start, and then perf report --no-inline (MAX_REPORT=300 MiB: larger recordings have
none), bpftrace's and profile's printing, branchctl top. Prints a table of Markdown; PLOT=FILE draws it, too.
"""
import contextlib
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from profilers import (BPFTRACE, Group, bpftrace_command, branchd_command, memory, perf_command, program_cost, program_statistics,
                       seconds_of)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bars  # noqa: E402

BRANCHD, BRANCHCTL = (os.path.abspath(path) for path in sys.argv[1:3])
PROCESSES = int(os.environ.get("PROCESSES", "200"))
RATES = [int(rate) for rate in os.environ.get("RATES", "99 999 4999").split()]
ROUNDS = int(os.environ.get("ROUNDS", "1"))
WARM_UP = float(os.environ.get("WARM_UP", "12"))
SECONDS = float(os.environ.get("SECONDS_EACH", "20"))
MAX_REPORT = float(os.environ.get("MAX_REPORT", "300"))
MIB = 1 << 20
TOOLS = os.environ.get("TOOLS", "branchd budget perf dwarf bpftrace profile").split()
NAMES = {"branchd": "branchd, no budget", "budget": "branchd, 0.2 %", "perf": "perf record -g",
         "dwarf": "perf, dwarf", "bpftrace": "bpftrace", "profile": "bcc's profile"}
PROGRAMS = {"branchd": BRANCHD, "budget": BRANCHD, "perf": "perf", "dwarf": "perf", "bpftrace": "bpftrace",
            "profile": "profile-bpfcc"}
DEEP = "f() { [ $1 -gt 0 ] && f $(($1 - 1)); }; while :; do f 20; done"
FORKS = "while :; do /bin/true; done"
WORK = "f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)\nf(29)"


@contextlib.contextmanager
def load():
    texts = [DEEP] * PROCESSES + [FORKS] * 2
    children = [subprocess.Popen(["nice", "-n", "19", "sh", "-c", text]) for text in texts]
    try:
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def work():
    """Its CPU time."""
    return seconds_of(["nice", "-n", "-5", sys.executable, "-I", "-c", WORK])


def command(tool, rate, place):
    if tool in ("branchd", "budget"):
        lines = ["Mode=software", f"Frequency={rate}"]
        return branchd_command(BRANCHD, place, lines if tool == "budget" else [*lines, "CpuBudget=infinity"], ["WindowSec=10"])
    if tool == "profile":
        return ["profile-bpfcc", "-F", str(rate), "-a", "-f", "--stack-storage-size", "100000"]
    if tool == "bpftrace":
        return bpftrace_command(rate, place)
    return perf_command(rate, place, *(("--call-graph", "dwarf,8192") if tool == "dwarf" else ("-g",)))


def written(group):
    """Bytes of files, by all its processes so far."""
    total = 0
    for pid in set(group.processes()):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/io", encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("write_bytes:"))
    return total


class Turn:
    """One profiler at one rate."""

    def __init__(self, tool, rate):
        self.tool, self.is_daemon = tool, tool in ("branchd", "budget")
        self.place, self.group = tempfile.mkdtemp(prefix="branchd-side-"), Group()
        self.program = "take_any" if self.is_daemon else "do_perf_event" if tool == "profile" else str(rate)
        with open(os.path.join(self.place, "printed"), "wb") as printed:
            self.process = subprocess.Popen(command(tool, rate, self.place), stdout=printed, stderr=subprocess.DEVNULL,
                                            preexec_fn=self.group.enter, env=BPFTRACE)

    def read(self):
        return {"at": time.monotonic(), "cpu": self.group.cpu_seconds(), "written": written(self.group),
                "bpf": program_cost(self.program)[0] / 1e9}

    def measure(self):
        time.sleep(WARM_UP)
        if self.process.poll() is not None:
            return None
        before, works = self.read(), []
        while time.monotonic() - before["at"] < SECONDS:
            works.append(work())
        after = self.read()
        elapsed = after["at"] - before["at"]
        return {"memory": memory(self.process.pid), "works": works,
                "own": 100 * (after["cpu"] - before["cpu"]) / elapsed,
                "bpf": 100 * (after["bpf"] - before["bpf"]) / elapsed if after["bpf"] else None,
                "mib_hour": (after["written"] - before["written"]) / MIB / elapsed * 3600}

    def answer(self):
        """CPU time of the profiler from its start, and of what then shows the hottest."""
        asked = seconds_of([BRANCHCTL, "--socket", self.place + "/socket", "top", "--once"]) if self.is_daemon else 0
        self.process.send_signal(signal.SIGTERM if self.is_daemon else signal.SIGINT)
        self.process.wait()
        data = os.path.join(self.place, "perf.data")
        if os.path.exists(data) and os.path.getsize(data) > MAX_REPORT * MIB:
            return None
        if os.path.exists(data):
            asked = seconds_of(["perf", "report", "--stdio", "--no-inline", "-i", data])
        return asked + self.group.cpu_seconds()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.group.remove()
        shutil.rmtree(self.place)


def take_turn(tool, rate):
    turn = Turn(tool, rate)
    try:
        row = turn.measure()
        if row:
            row["answer"] = turn.answer()
    finally:
        turn.end()
    if row:
        row["pairs"] = [100 * (busy / work() - 1) for busy in row["works"]]
    return row


# of Student's t, two-sided 95 %, by degrees of freedom
T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09)


def interval(values):
    if len(values) < 2:
        return float("nan")
    return T[min(len(values) - 2, len(T) - 1)] * statistics.stdev(values) / math.sqrt(len(values))


def mean(rows, key):
    known = [row[key] for row in rows if row[key] is not None]
    return sum(known) / len(known) if known else None


def text(value, form=".2f"):
    return "" if value is None else format(value, form)


def summarize(rows):
    pairs = [value for row in rows for value in row["pairs"]]
    result = {key: mean(rows, key) for key in ("own", "bpf", "answer", "memory", "mib_hour")}
    return result | {"slowdown": sum(pairs) / len(pairs), "interval": interval(pairs), "pairs": len(pairs)}


def draw(path, table):
    tools = [tool for tool in TOOLS if any(tool == key[0] for key in table)]
    panels = (("own CPU time, % of one CPU", "own"), ("CPU seconds to an answer", "answer"),
              ("slowdown of a fixed work, %", "slowdown"), ("memory, MiB", "memory"), ("written, MiB an hour", "mib_hour"))
    bars.write(path, f"Profilers beside {PROCESSES} busy processes on {os.cpu_count()} CPUs", [f"{rate} Hz" for rate in RATES],
               [NAMES[tool] for tool in tools],
               [(title, [[table.get((tool, rate), {}).get(key) for rate in RATES] for tool in tools]) for title, key in panels])


def show(table):
    print(f"\n{WARM_UP:.0f} s to warm up, {SECONDS:.0f} s each, {ROUNDS} rounds; CPU in % of one CPU\n\n"
          "| Hz | profiler | its processes % | its BPF program % | slowdown % | memory MiB | written MiB an hour | CPU s to an answer |\n"
          "|---|---|---|---|---|---|---|---|")
    for (tool, rate), row in sorted(table.items(), key=lambda item: (item[0][1], TOOLS.index(item[0][0]))):
        print(f"| {rate} | {NAMES[tool]} | {row['own']:.2f} | {text(row['bpf'])} | {row['slowdown']:.2f} ± {row['interval']:.2f} "
              f"({row['pairs']} pairs) | {row['memory']:.1f} | {row['mib_hour']:.0f} | {text(row['answer'])} |")


def main():
    rows, missing = {}, set()
    with load():
        time.sleep(2)
        for number in range(ROUNDS):
            for rate in RATES:
                for tool in (tool for tool in TOOLS if tool not in missing):
                    has_program = shutil.which(PROGRAMS[tool])
                    row = take_turn(tool, rate) if has_program else None
                    if row:
                        rows.setdefault((tool, rate), []).append(row)
                        print(f"round {number + 1}, {rate} Hz, {tool}: {summarize([row])}", file=sys.stderr, flush=True)
                    else:
                        missing.add(tool)
                        print(f"{NAMES[tool]} is not installed, or ends by itself on this kernel")
    table = {key: summarize(values) for key, values in rows.items()}
    show(table)
    if "PLOT" in os.environ:
        draw(os.environ["PLOT"], table)


# A shell's commands in the background ignore it, as would the profilers, which are to end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with program_statistics():
    main()
