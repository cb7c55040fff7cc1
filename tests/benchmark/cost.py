# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sampling a busy machine costs, side by side in one run: cost.py BRANCHD SOURCE [OLD-BRANCHD].

Each in its turn samples stacks of all CPUs under the same load: the daemon; perf record -a -g; bpftrace,
which counts the same stacks. CPU time is all that the process and its children used from its start to its end, as their control
group counts it; with an answer: and what then says which functions were hot, which the daemon and bpftrace have done by then and
perf report does; from then on: what it used from the second window on, which is what sampling without end costs. What the BPF program takes is
the kernel's own figure. Of the daemon all processes count, its helpers too; its memory is their PSS. With
OLD-BRANCHD, another build of it, that takes its turns instead of perf and bpftrace, and ratios are shown; both
walk frame pointers then, which every build can, unless USER_STACKS=auto says otherwise. Needs root.

    SECONDS_EACH=30 ROUNDS=2 cost.py build/daemon/branchd daemon/config.c
    SECONDS_EACH=30 ROUNDS=5 cost.py build/daemon/branchd daemon/config.c base/daemon/branchd

With LOAD_USER=nobody the load is this user's, and the daemon samples nothing else: for a machine that has other work.

With STACKS=1 the ways to find stacks of user code take their turns: branchd by unwind tables (branchd) and by frame
pointers (pointers), and perf record --call-graph dwarf,8192 (dwarf).
"""
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

BRANCHD, SOURCE, *OLD = (os.path.abspath(path) for path in sys.argv[1:4])
SECONDS = int(os.environ.get("SECONDS_EACH", "30"))
ROUNDS = int(os.environ.get("ROUNDS", "2"))
WINDOW = int(os.environ.get("WINDOW", "10"))
STACKS = os.environ.get("STACKS")
USER_STACKS = os.environ.get("USER_STACKS", "frame-pointers" if OLD else "auto")
DAEMONS = ("branchd", "old", "pointers")
LOAD_USER = os.environ.get("LOAD_USER")

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
    return [subprocess.Popen(["sh", "-c", text.format(**fill)], start_new_session=True, stderr=subprocess.DEVNULL,
                             user=LOAD_USER) for text in LOADS[name]]


def stop_load(load):
    for process in load:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def command(tool, frequency, place):
    if tool in DAEMONS:
        stacks = "frame-pointers" if tool == "pointers" else USER_STACKS
        lines = ["Mode=software", f"Frequency={frequency}", "CpuBudget=infinity"]
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
        most = max(most, memory(pid))
        time.sleep(1)
    return most


def measure(tool, frequency):
    place = tempfile.mkdtemp(prefix="branchd-cost-")
    group = Group()
    process = subprocess.Popen(command(tool, frequency, place), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=group.enter,
                               env=BPFTRACE)
    begin = time.monotonic()
    peak = watch(process.pid, 2 * WINDOW)
    early = group.cpu_seconds()
    peak = max(peak, watch(process.pid, SECONDS))
    late = group.cpu_seconds()
    resident = memory(process.pid)
    bpf_ns, runs = program_cost("take_any" if tool in DAEMONS else str(frequency))
    process.send_signal(signal.SIGTERM if tool in DAEMONS else signal.SIGINT)
    wall = time.monotonic() - begin
    process.wait()
    used = group.cpu_seconds()
    group.remove()
    answer = used + (seconds_of(["perf", "report", "--stdio", "-i", place + "/perf.data"]) if tool == "perf" else 0)
    shutil.rmtree(place)
    return {
        "all": 100 * used / wall,
        "answer": 100 * answer / wall,
        "steady": 100 * (late - early) / SECONDS,
        "peak": peak,
        "resident": resident,
        "bpf_ns": bpf_ns / runs if runs else float("nan"),
    }


def show(load):
    print(f"\n{load}:  CPU in % of one CPU, memory in MiB\n"
          f"{'':18}{'CPU in all':>12}{'with an answer':>16}{'from then on':>14}{'resident':>10}{'peak':>8}{'BPF ns/run':>12}")
    others = (("old", 999), ("old", 99)) if OLD else (("perf", 999), ("bpftrace", 999))
    if STACKS:
        others = (("pointers", 999), ("pointers", 99), ("dwarf", 999))
    rows = {}
    for _ in range(ROUNDS):
        for tool, frequency in (("branchd", 999), ("branchd", 99), *others):
            if not (tool in DAEMONS or shutil.which("perf" if tool == "dwarf" else tool)):
                print(f"{tool:12} is not installed")
                continue
            row = measure(tool, frequency)
            rows.setdefault((tool, frequency), []).append(row)
            print(f"{tool:12}{frequency:6}{row['all']:12.2f}{row['answer']:16.2f}{row['steady']:14.2f}{row['resident']:10.1f}"
                  f"{row['peak']:8.1f}{row['bpf_ns']:12.0f}", flush=True)
    for frequency in (99, 999) if OLD else ():
        def median(tool, key):
            return statistics.median(row[key] for row in rows[tool, frequency])
        print(f"new / old  {frequency:6}  " + ", ".join(
            f"{key} {median('branchd', key) / median('old', key):.2f}"
            for key in ("all", "steady", "resident", "peak", "bpf_ns")), flush=True)


def main():
    for name in LOADS:
        load = start_load(name)
        try:
            show(name)
        finally:
            stop_load(load)


if __name__ == "__main__":
    with program_statistics():
        main()
