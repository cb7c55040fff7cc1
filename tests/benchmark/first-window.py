# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the first window of a branchd costs beside a later one: first-window.py BRANCHD SOURCE [OLD-BRANCHD]

Under the steady load of cost.py a daemon starts twice: with an empty state directory, and again with what it has kept there.
The CPU time of all its processes (their control group) and of the BPF programs (the kernel's own figure) is read after
each window has had 1.5 seconds to be named and stored. So the first figure has the start, the next ones only sampling:
their median is that of a later window. Beside it the threads with the most CPU time in the first window. With OLD-BRANCHD the
builds take turns. Prints a table of Markdown. Takes LATER=3 windows and one more (WINDOW=10 seconds), twice, for each of
ROUNDS=1: a minute and a half. Needs root and BPF; nothing else should run.

    HZ=99 ROUNDS=3 first-window.py build-release/daemon/branchd daemon/config.c base/daemon/branchd
"""
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import cost
from profilers import Group, program_cost, program_statistics, threads

HZ = int(os.environ.get("HZ", "99"))
ROUNDS = int(os.environ.get("ROUNDS", "1"))
LATER = int(os.environ.get("LATER", "3"))  # windows
NAMED_AFTER = 1.5  # seconds


def thread_ns(group):
    """Nanoseconds of CPU by the name of a thread."""
    result = {}
    for name, _, ns in threads(set(group.processes())).values():
        result[name] = result.get(name, 0) + ns
    return result


def cpu_ms(group):
    return 1e3 * group.cpu_seconds(), program_cost("take_any")[0] / 1e6


def run(tool, place):
    """Milliseconds of each window, and of the threads in the first."""
    window = cost.WINDOW
    time.sleep(window - time.time() % window + 0.1)
    begin = time.time() // window * window
    group = Group()
    process = subprocess.Popen(cost.command(tool, HZ, place), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=group.enter)
    seen, by_thread = [(0, 0)], {}
    for number in range(1, LATER + 2):
        time.sleep(begin + number * window + NAMED_AFTER - time.time())
        by_thread = by_thread or thread_ns(group)
        seen.append(cpu_ms(group))
    process.send_signal(signal.SIGTERM)
    process.wait()
    group.remove()
    return [(b[0] - a[0], b[1] - a[1]) for a, b in zip(seen, seen[1:])], by_thread


def show(tool, start, windows, by_thread):
    first, *later = windows
    daemon, program = (statistics.median(window[i] for window in later) for i in (0, 1))
    names = ", ".join(f"{name} {ns / 1e6:.1f}" for name, ns in sorted(by_thread.items(), key=lambda row: -row[1])[:6])
    print(f"| {tool} | {start} | {first[0]:.1f} | {first[1]:.1f} | {daemon:.1f} | {program:.1f} | {sum(first) / (daemon + program):.2f} | "
          f"{names} |", flush=True)


def main():
    print(f"{HZ} Hz, windows of {cost.WINDOW} s, ms of CPU\n\n"
          "| build | start | first | its BPF program | later | its BPF program | times | the first by thread |\n"
          "|---|---|---|---|---|---|---|---|")
    load = cost.start_load("steady")
    try:
        for tool in ("branchd", *(("old",) if cost.OLD else ())) * ROUNDS:
            place = tempfile.mkdtemp(prefix="branchd-first-")
            for start in ("nothing kept", "kept"):
                show(tool, start, *run(tool, place))
            shutil.rmtree(place)
    finally:
        cost.stop_load(load)


with program_statistics():
    main()
