# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often profilers run while the machine idles: wakeups.py SECONDS BRANCHD [CONFIG-LINE...]

Runs branchd, perf record and bpftrace (those that are installed) at 99 Hz, one after the other, and prints for each the
wake-ups a second (voluntary context switches) of all its processes and threads, their CPU time an hour by the scheduler's
sums, and the run time of the BPF program an hour, from BEGIN_AFTER=10 and 25 seconds after its start on, as a table of Markdown.
CONFIG-LINEs go to the section [Sampling]. Takes three times BEGIN_AFTER + 25 + SECONDS. Needs root and BPF; nothing else may run.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from profilers import bpftrace_command, branchd_command, ends, perf_command, processes, program_cost, program_statistics, threads

BEGIN_AFTER = float(os.environ.get("BEGIN_AFTER", "10"))  # seconds: opening, first names
NAMED_AFTER = 25  # seconds: bpftool, which asks for the run time, must be named


def program_time(program):
    """The time, and the run time of the BPF program so far; both in ns."""
    return time.monotonic_ns(), program_cost(program)[0]


def watch(process, program, seconds):
    """Threads before and after, the time between, and the share of the BPF program; None if the profiler ends by itself."""
    time.sleep(BEGIN_AFTER)
    began, ran = program_time(program)
    time.sleep(NAMED_AFTER)
    before, start = threads(processes(process.pid)), time.monotonic()
    time.sleep(seconds)
    after, took = threads(processes(process.pid)), time.monotonic() - start
    ended, has_run = program_time(program)
    return (before, after, took, (has_run - ran) / (ended - began)) if process.poll() is None else None


def measure(name, command, program, seconds):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        watched = watch(process, program, seconds)
    finally:
        process.terminate()
        ends(process, 20)
    if not watched:
        print(f"| {name} ended with {process.returncode} |")
        return
    before, after, took, share = watched
    rows = [(thread, wakeups - before.get(task, (0, 0, 0))[1], cpu - before.get(task, (0, 0, 0))[2])
            for task, (thread, wakeups, cpu) in after.items()]
    often = [f"{thread} {wakeups / took:.2f}" for thread, wakeups, _ in sorted(rows, key=lambda row: -row[1])[:6] if wakeups]
    print(f"| {name} | {sum(row[1] for row in rows) / took:.2f} | {sum(row[2] for row in rows) / took * 3600 / 1e9:.2f} | "
          f"{share * 3600:.2f} | {', '.join(often)} |", flush=True)


def main():
    seconds, branchd, lines = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    print("| profiler | wake-ups a second | CPU s an hour | of its BPF program | wake-ups by thread |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as place:
        measure("branchd", branchd_command(branchd, place, lines), "take_any", seconds)
        if shutil.which("perf"):
            measure("perf record -a -g -F 99", perf_command(99, place, "-g"), "none", seconds)
        if shutil.which("bpftrace"):
            measure("bpftrace, counts of stacks", bpftrace_command(99, place), "99", seconds)


with program_statistics():
    main()
