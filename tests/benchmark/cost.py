# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sampling a busy machine costs, side by side in one run: cost.py BRANCHD SOURCE [OLD-BRANCHD]

Each in its turn samples stacks of all CPUs under the same load: the daemon; perf record -a -g; bpftrace, which counts the same
stacks. CPU time is all that the process and its children used from its start to its end, as their control group counts it; with
an answer: and what then says which functions were hot, which the daemon and bpftrace have done by then and perf report does (what
takes longer than a minute is killed, and has none); from then on: what it used from the second window on, which is what sampling
without end costs. Of each CPU is that with the run time of the BPF program, divided by the number of CPUs. What the BPF
program takes is the kernel's own figure. Samples are those of that time, and how many of them were captured with their stacks.
Of the daemon all processes count, its helpers too; its memory is their PSS, and at most what it was at any time between two
looks. CpuBudget=infinity is set; CONFIG adds lines to the section [Sampling], separated by blanks. Prints a table of Markdown.

With OLD-BRANCHD, another build of it, that takes its turns instead of perf and bpftrace, and ratios are shown; both walk frame
pointers then, which every build can, unless USER_STACKS=auto says otherwise. With ONLY=branchd nothing else takes turns, with
LOAD=building the load is that one alone. With LOAD_USER=nobody the load is this user's, and the daemon samples nothing else:
for a machine that has other work. With STACKS=1 the ways to find stacks of user code take their turns: branchd by unwind tables (branchd) and by frame pointers (pointers), and
perf record --call-graph dwarf,8192 (dwarf).

Takes two windows (WINDOW=10) and SECONDS_EACH=30 for each of four turns under each of two loads, in each of ROUNDS=2: 14 minutes.
Needs root and BPF. In short, the last one with top-callgraph's shares:

    SECONDS_EACH=20 ROUNDS=1 cost.py build/daemon/branchd daemon/config.c
    SECONDS_EACH=30 ROUNDS=5 cost.py build/daemon/branchd daemon/config.c base/daemon/branchd
    CONFIG="HotShare=10% CaptureShare=15%" ONLY=branchd SECONDS_EACH=20 ROUNDS=1 cost.py build/daemon/branchd daemon/config.c
"""
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from profilers import (BPFTRACE, Group, bpftrace_command, branchd_command, branchd_status, ends, memory, peak_memory,
                       perf_command, program_cost, program_statistics, seconds_of)

BRANCHD, SOURCE, *OLD = (os.path.abspath(path) for path in sys.argv[1:4])
SECONDS = int(os.environ.get("SECONDS_EACH", "30"))
ROUNDS = int(os.environ.get("ROUNDS", "2"))
WINDOW = int(os.environ.get("WINDOW", "10"))
CONFIG = os.environ.get("CONFIG", "").split()
ONLY = os.environ.get("ONLY")
STACKS = os.environ.get("STACKS")
USER_STACKS = os.environ.get("USER_STACKS", "frame-pointers" if OLD else "auto")
DAEMONS = ("branchd", "old", "pointers")
LOAD_USER = os.environ.get("LOAD_USER")
LOAD = os.environ.get("LOAD")
MAX_ANSWER = 60  # seconds

LOADS = {
    # services that stay: compression, and an interpreter with deep stacks
    "steady": [
        "while :; do head -c 20000000 {branchd} {branchd} {branchd} | xz -2 -c >/dev/null; done",
        "exec python3 -c 'f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)\nwhile True: f(23)'",
    ],
    # a build: processes come and go all the time
    "building": ["while :; do gcc -O2 -c {source} -I{top} -o /dev/null 2>/dev/null; done"] * 2,
}


def start_load(name):
    fill = {"branchd": BRANCHD, "source": SOURCE, "top": os.path.dirname(os.path.dirname(SOURCE))}
    if name == "building" and subprocess.run(["gcc", "-fsyntax-only", SOURCE, "-I" + fill["top"]], user=LOAD_USER,
                                             check=False).returncode:
        sys.exit(f"{SOURCE} cannot be compiled: name a source file whose includes are found from the folder above its own")
    return [subprocess.Popen(["sh", "-c", text.format(**fill)], start_new_session=True, stderr=subprocess.DEVNULL,
                             user=LOAD_USER) for text in LOADS[name]]


def stop_load(load):
    for process in load:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def command(tool, frequency, place):
    if tool in DAEMONS:
        stacks = "frame-pointers" if tool == "pointers" else USER_STACKS
        lines = ["Mode=software", f"Frequency={frequency}", "CpuBudget=infinity", *CONFIG]
        if tool != "old":
            lines.append(f"UserStacks={stacks}")
        if LOAD_USER:
            lines.append(f"Users={LOAD_USER}")
        return branchd_command(OLD[0] if tool == "old" else BRANCHD, place, lines, [f"WindowSec={WINDOW}"])
    if tool == "bpftrace":
        return bpftrace_command(frequency, place)
    return perf_command(frequency, place, *(("--call-graph", "dwarf,8192") if tool == "dwarf" else ("-g",)))


def watch(pid, seconds):
    """Waits; the most memory meanwhile."""
    end, most = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        most = max(most, peak_memory(pid))
        time.sleep(1)
    return most


def read(tool, frequency, group, place):
    bpf_ns, runs = program_cost("take_any" if tool in DAEMONS else str(frequency))
    samples = branchd_status(place)["samples"] if tool in DAEMONS else {"taken": None, "written": None}
    return {"at": time.monotonic(), "cpu": group.cpu_seconds(), "bpf_ns": bpf_ns, "runs": runs,
            "taken": samples["taken"], "captured": samples["written"]}


def answer(tool, process, place):
    """CPU time after the profiler has ended; None if it does not end, or has no answer, in time."""
    process.send_signal(signal.SIGTERM if tool in DAEMONS else signal.SIGINT)
    if not ends(process, MAX_ANSWER):
        return None
    return seconds_of(["perf", "report", "--stdio", "-i", place + "/perf.data"], MAX_ANSWER) if tool == "perf" else 0


def measure(tool, frequency):
    place = tempfile.mkdtemp(prefix="branchd-cost-")
    group = Group()
    process = subprocess.Popen(command(tool, frequency, place), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=group.enter,
                               env=BPFTRACE)
    begin = time.monotonic()
    peak = watch(process.pid, 2 * WINDOW)
    early = read(tool, frequency, group, place)
    peak = max(peak, watch(process.pid, SECONDS))
    late = read(tool, frequency, group, place)
    resident = memory(process.pid)
    wall = time.monotonic() - begin
    asked = answer(tool, process, place)
    used = group.cpu_seconds()
    group.remove()
    shutil.rmtree(place)
    gone = {key: late[key] - early[key] if late[key] is not None else None for key in late}
    return {
        "all": 100 * used / wall,
        "answer": 100 * (used + asked) / wall if asked is not None else None,
        "steady": 100 * gone["cpu"] / gone["at"],
        "each_cpu": 100 * (gone["cpu"] + gone["bpf_ns"] / 1e9) / gone["at"] / os.cpu_count(),
        "taken": gone["taken"],
        "captured": gone["captured"],
        "resident": resident,
        "peak": max(peak, resident),
        "bpf_ns": gone["bpf_ns"] / gone["runs"] if gone["runs"] else None,
    }


COLUMNS = {"all": ("CPU in all", ".2f"), "answer": ("with an answer", ".2f"), "steady": ("from then on", ".2f"),
           "each_cpu": ("of each CPU", ".3f"), "taken": ("samples", "d"), "captured": ("captured", "d"),
           "resident": ("resident MiB", ".1f"), "peak": ("peak MiB", ".1f"), "bpf_ns": ("BPF ns a run", ".0f")}


def show(load):
    print(f"\n{load}: CPU in % of one CPU, and of each of {os.cpu_count()}{''.join(', ' + line for line in CONFIG)}\n\n"
          f"| profiler | Hz | {' | '.join(title for title, _ in COLUMNS.values())} |\n{'|---' * (2 + len(COLUMNS))}|", flush=True)
    others = (("old", 999), ("old", 99)) if OLD else (("perf", 999), ("bpftrace", 999))
    if STACKS:
        others = (("pointers", 999), ("pointers", 99), ("dwarf", 999))
    rows = {}
    for _ in range(ROUNDS):
        for tool, frequency in (("branchd", 999), ("branchd", 99), *others):
            if ONLY not in (None, tool):
                continue
            if not (tool in DAEMONS or shutil.which("perf" if tool == "dwarf" else tool)):
                print(f"| {tool} is not installed |")
                continue
            row = measure(tool, frequency)
            rows.setdefault((tool, frequency), []).append(row)
            cells = (format(row[key], form) if row[key] is not None else "" for key, (_, form) in COLUMNS.items())
            print(f"| {tool} | {frequency} | {' | '.join(cells)} |", flush=True)
    for frequency in (99, 999) if OLD and not ONLY else ():
        def median(tool, key):
            return statistics.median(row[key] for row in rows[tool, frequency])
        print(f"\nnew / old, {frequency} Hz: " + ", ".join(
            f"{COLUMNS[key][0]} {median('branchd', key) / median('old', key):.2f}"
            for key in ("all", "steady", "each_cpu", "resident", "peak", "bpf_ns")), flush=True)


def main():
    for name in [LOAD] if LOAD else LOADS:
        load = start_load(name)
        try:
            show(name)
        finally:
            stop_load(load)


if __name__ == "__main__":
    with program_statistics():
        main()
