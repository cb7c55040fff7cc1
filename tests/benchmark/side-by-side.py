# SPDX-License-Identifier: LGPL-2.1-or-later
"""Profilers on a busy machine, in turns in one run: side-by-side.py BRANCHD BRANCHCTL

PROCESSES=200 processes with calls within calls keep all CPUs busy at the lowest priority, and two more start a program after the
other. In each of ROUNDS=1, at each of RATES="99 999 4999", the profilers take turns: branchd (with CpuBudget=infinity: every
sample in full; with its default of 0.2 %: budget); perf record -a -g; perf record -a --call-graph dwarf; bpftrace, which counts
the same stacks; bcc's profile. What cannot run here is said. Of each, from WARM_UP=12 seconds after its start on, for
SECONDS_EACH=15:

- CPU time of its processes, as their control group counts it, and of its BPF program by the kernel's statistics;
- memory (PSS), and what its processes write to files.

CPU time to an answer is all it takes from its start, and then perf report --no-inline (MAX_REPORT=300 MiB: larger recordings have
none), bpftrace's and profile's printing, branchctl top. What has not printed after MAX_ANSWER=30 seconds is killed, and the table
says so. What it slows down, slowdown.py measures.

Prints a table of Markdown; PLOT=FILE draws it, too (SVG). Takes some ten minutes: (WARM_UP + SECONDS_EACH) a turn of five profilers
and three rates, and the answers. Needs root and BPF; nothing else should run. In short:

    PROCESSES=4 RATES=99 WARM_UP=2 SECONDS_EACH=2 PLOT=/tmp/plot.svg side-by-side.py build/daemon/branchd build/client/branchctl
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from profilers import (BPFTRACE, Group, bpftrace_command, branchd_command, ends, memory, perf_command, program_cost,
                       program_statistics, seconds_of)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bars  # noqa: E402

BRANCHD, BRANCHCTL = (os.path.abspath(path) for path in sys.argv[1:3])
PROCESSES = int(os.environ.get("PROCESSES", "200"))
RATES = [int(rate) for rate in os.environ.get("RATES", "99 999 4999").split()]
ROUNDS = int(os.environ.get("ROUNDS", "1"))
WARM_UP = float(os.environ.get("WARM_UP", "12"))
SECONDS = float(os.environ.get("SECONDS_EACH", "15"))
MAX_REPORT = float(os.environ.get("MAX_REPORT", "300"))
MAX_ANSWER = float(os.environ.get("MAX_ANSWER", "30"))
MIB = 1 << 20
TOOLS = os.environ.get("TOOLS", "branchd budget perf dwarf bpftrace profile").split()
NAMES = {"branchd": "branchd, no budget", "budget": "branchd, 0.2 %", "perf": "perf record -g",
         "dwarf": "perf, dwarf", "bpftrace": "bpftrace", "profile": "bcc's profile"}
PROGRAMS = {"branchd": BRANCHD, "budget": BRANCHD, "perf": "perf", "dwarf": "perf", "bpftrace": "bpftrace",
            "profile": "profile-bpfcc"}
DEEP = "f() { [ $1 -gt 0 ] && f $(($1 - 1)); }; while :; do f 20; done"
FORKS = "while :; do /bin/true; done"


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
        """None if it ends by itself."""
        time.sleep(WARM_UP)
        if self.process.poll() is not None:
            return None
        before = self.read()
        time.sleep(SECONDS)
        after = self.read()
        elapsed = after["at"] - before["at"]
        used = {key: 100 * (after[key] - before[key]) / elapsed for key in ("cpu", "bpf")}
        return None if self.process.poll() is not None else {
            "memory": memory(self.process.pid), "own": used["cpu"], "bpf": used["bpf"] if after["bpf"] else None,
            "sum": sum(used.values()), "mib_hour": (after["written"] - before["written"]) / MIB / elapsed * 3600}

    def answer(self):
        """CPU time of the profiler from its start, and of what then shows the hottest; None, and why, if there is no answer."""
        asked = seconds_of([BRANCHCTL, "--socket", self.place + "/socket", "top", "--once"], MAX_ANSWER) if self.is_daemon else 0
        self.process.send_signal(signal.SIGTERM if self.is_daemon else signal.SIGINT)
        if not ends(self.process, MAX_ANSWER):
            return None, self.killed()
        data = os.path.join(self.place, "perf.data")
        if os.path.exists(data) and os.path.getsize(data) > MAX_REPORT * MIB:
            return None, f"none: more than {MAX_REPORT:.0f} MiB"
        if os.path.exists(data):
            asked = seconds_of(["perf", "report", "--stdio", "--no-inline", "-i", data], MAX_ANSWER)
        return (None, self.killed()) if asked is None else (asked + self.group.cpu_seconds(), "")

    def killed(self):
        return f"over {self.group.cpu_seconds():.2f}: killed after {MAX_ANSWER:.0f} s"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.group.remove()
        shutil.rmtree(self.place)


def take_turn(tool, rate):
    turn = Turn(tool, rate)
    try:
        row = turn.measure()
        if row:
            row["answer"], row["why"] = turn.answer()
    finally:
        turn.end()
    return row


def mean(rows, key):
    known = [row[key] for row in rows if row[key] is not None]
    return sum(known) / len(known) if known else None


def text(value, form=".2f"):
    return "" if value is None else format(value, form)


def summarize(rows):
    result = {key: mean(rows, key) for key in ("own", "bpf", "sum", "answer", "memory", "mib_hour")}
    return result | {"why": max(row["why"] for row in rows)}


def draw(path, table):
    tools = [tool for tool in TOOLS if any(tool == key[0] for key in table)]
    panels = (("CPU time of processes and BPF program, % of one CPU", "sum"), ("CPU seconds to an answer", "answer"),
              ("memory, MiB", "memory"), ("written, MiB an hour", "mib_hour"))
    bars.write(path, f"Profilers beside {PROCESSES} busy processes on {os.cpu_count()} CPUs", [f"{rate} Hz" for rate in RATES],
               [NAMES[tool] for tool in tools],
               [(title, [[table.get((tool, rate), {}).get(key) for rate in RATES] for tool in tools]) for title, key in panels])


def show(table):
    print(f"\n{WARM_UP:.0f} s to warm up, {SECONDS:.0f} s each, {ROUNDS} rounds; CPU in % of one CPU\n\n"
          "| Hz | profiler | its processes % | its BPF program % | memory MiB | written MiB an hour | CPU s to an answer |\n"
          "|---|---|---|---|---|---|---|")
    for (tool, rate), row in sorted(table.items(), key=lambda item: (item[0][1], TOOLS.index(item[0][0]))):
        print(f"| {rate} | {NAMES[tool]} | {row['own']:.2f} | {text(row['bpf'])} | {row['memory']:.1f} | "
              f"{row['mib_hour']:.0f} | {row['why'] or text(row['answer'])} |")


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
