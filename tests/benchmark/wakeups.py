# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often profilers run while the machine idles: wakeups.py SECONDS BRANCHD [CONFIG-LINE...]

Runs branchd, perf record and bpftrace (those that are installed) one after the other, as root, and prints for each the
context switches a second of all its processes and threads, their CPU time an hour by the scheduler's sums, and the run time of the BPF
program, once the first 20 seconds have passed. CONFIG-LINEs go to the section [Sampling].
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cost

BEGIN_AFTER = float(os.environ.get("BEGIN_AFTER", "20"))  # seconds: opening, first names
STACKS = "profile:hz:99 { @[kstack, ustack, comm] = count(); }"


def descendants(pid):
    """@pid and all below it."""
    found, parents = [pid], {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has gone
    for at in found:
        found += [child for child, parent in parents.items() if parent == at]
    return found


def counts(pid):
    """Context switches and seconds of CPU, by thread."""
    result = {}
    for process in descendants(pid):
        try:
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{process}/task/{task}/status", encoding="utf-8", errors="replace") as file:
                    switches = sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
                with open(f"/proc/{process}/task/{task}/comm", encoding="utf-8", errors="replace") as file:
                    name = file.read().strip()
                with open(f"/proc/{process}/task/{task}/schedstat", encoding="ascii") as file:
                    result[task] = (name, switches, int(file.read().split()[0]) / 1e9)
            except OSError:
                pass
    return result


def measure(name, command, program, seconds):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(BEGIN_AFTER)
        before, began, program_ns = counts(process.pid), time.monotonic(), cost.program_cost(program)[0]
        time.sleep(seconds)
        after, took = counts(process.pid), time.monotonic() - began
        program_ns = cost.program_cost(program)[0] - program_ns
        if process.poll() is not None:
            print(f"{name}: ended with {process.returncode}")
            return
        process.terminate()
    rows = [(thread, switches - before.get(task, (0, 0, 0))[1], cpu - before.get(task, (0, 0, 0))[2])
            for task, (thread, switches, cpu) in after.items()]
    print(f"{name}: {sum(row[1] for row in rows) / took:.2f} switches a second, "
          f"{sum(row[2] for row in rows) / took * 3600:.2f} s of CPU an hour, and {program_ns / took * 3600 / 1e9:.2f} s of its BPF program")
    for thread, switches, cpu in sorted(rows, key=lambda row: -row[1])[:6]:
        if switches:
            print(f"    {thread}: {switches / took:.2f} a second")


def main():
    seconds, branchd, lines = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as place:
        with open(place + "/conf", "w", encoding="utf-8") as file:
            file.write("[Sampling]\n" + "\n".join(lines) + "\n")
        measure("branchd", [branchd, "--config", place + "/conf", "--state-directory", place + "/state",
                            "--socket", place + "/socket"], "take_any", seconds)
        if shutil.which("perf"):
            measure("perf record -a -g -F 99", ["perf", "record", "-a", "-g", "-F", "99", "-o", place + "/data"], "none", seconds)
        if shutil.which("bpftrace"):
            measure("bpftrace, counts of stacks", ["bpftrace", "-e", STACKS], "99", seconds)


with cost.program_statistics():
    main()
