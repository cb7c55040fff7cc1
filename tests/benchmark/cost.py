# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sampling a busy machine costs, side by side in one run: cost.py BRANCHD SOURCE.

Each in its turn samples stacks of all CPUs under the same load: the daemon; perf record -a -g; bpftrace,
which counts the same stacks. CPU time is all that the process used from its start to its end; with an answer: and what then says
which functions were hot, which the daemon and bpftrace have done by then and perf report does; from then on:
what it used from the second window on, which is what sampling without end costs. What the BPF program takes is
the kernel's own figure. Needs root.

    SECONDS_EACH=30 ROUNDS=2 cost.py build/daemon/branchd daemon/config.c
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BRANCHD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
SECONDS = int(os.environ.get("SECONDS_EACH", "30"))
ROUNDS = int(os.environ.get("ROUNDS", "2"))
WINDOW = 10
TICK = os.sysconf("SC_CLK_TCK")
STATS = "/proc/sys/kernel/bpf_stats_enabled"

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
    return [subprocess.Popen(["sh", "-c", text.format(**fill)], start_new_session=True,
                             stderr=subprocess.DEVNULL) for text in LOADS[name]]


def stop_load(load):
    for process in load:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf8", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid):
    """Resident memory now and at its peak, MiB."""
    with open(f"/proc/{pid}/status", encoding="utf8", errors="replace") as f:
        fields = dict(line.split(":", 1) for line in f)
    return tuple(int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))


def program_cost(name):
    """Run time and runs of the BPF program that is called so."""
    output = subprocess.run(["bpftool", "prog", "show", "--json"], check=True, capture_output=True).stdout
    for program in json.loads(output):
        if program.get("name", "").startswith(name):
            return program.get("run_time_ns", 0), program.get("run_cnt", 0)
    return 0, 0


def command(tool, frequency, place):
    if tool == "branchd":
        config = os.path.join(place, "branchd.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"[Sampling]\nMode=software\nFrequency={frequency}\n[Store]\nWindowSec={WINDOW}\n")
        return [BRANCHD, "--config", config, "--state-directory", place + "/state",
                "--socket", place + "/socket"]
    if tool == "perf":
        return ["perf", "record", "-q", "-F", str(frequency), "-a", "-g", "-o", place + "/perf.data"]
    return ["bpftrace", "-q", "-o", place + "/stacks", "-e",
            f"profile:hz:{frequency} {{ @[kstack, ustack, comm, pid] = count(); }}"]


def report(place):
    """CPU time until perf has named what it recorded."""
    process = subprocess.Popen(["perf", "report", "--stdio", "-i", place + "/perf.data"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def measure(tool, frequency):
    place = tempfile.mkdtemp(prefix="branchd-cost-")
    process = subprocess.Popen(command(tool, frequency, place), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=dict(os.environ, BPFTRACE_MAP_KEYS_MAX="100000"))
    begin = time.monotonic()
    time.sleep(2 * WINDOW)
    early = cpu_seconds(process.pid)
    time.sleep(SECONDS)
    late = cpu_seconds(process.pid)
    resident, peak = memory(process.pid)
    bpf_ns, runs = program_cost("take_any" if tool == "branchd" else str(frequency))
    process.send_signal(signal.SIGTERM if tool == "branchd" else signal.SIGINT)
    wall = time.monotonic() - begin
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    used = usage.ru_utime + usage.ru_stime
    answer = used + (report(place) if tool == "perf" else 0)
    shutil.rmtree(place)
    return {
        "all": 100 * used / wall,
        "answer": 100 * answer / wall,
        "steady": 100 * (late - early) / SECONDS,
        "peak": max(peak, usage.ru_maxrss / 1024),
        "resident": resident,
        "bpf_ns": bpf_ns / runs if runs else float("nan"),
    }


def show(load):
    print(f"\n{load}:  CPU in % of one CPU, memory in MiB\n"
          f"{'':18}{'CPU in all':>12}{'with an answer':>16}{'from then on':>14}{'resident':>10}{'peak':>8}{'BPF ns/run':>12}")
    for _ in range(ROUNDS):
        for tool, frequency in (("branchd", 999), ("perf", 999), ("bpftrace", 999), ("branchd", 99)):
            if not (tool == "branchd" or shutil.which(tool)):
                print(f"{tool:12} is not installed")
                continue
            row = measure(tool, frequency)
            print(f"{tool:12}{frequency:6}{row['all']:12.2f}{row['answer']:16.2f}{row['steady']:14.2f}{row['resident']:10.1f}"
                  f"{row['peak']:8.1f}{row['bpf_ns']:12.0f}", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the load is stopped, whatever ends this
    with open(STATS, encoding="ascii") as f:
        before = f.read()
    with open(STATS, "w", encoding="ascii") as f:
        f.write("1")
    try:
        for name in LOADS:
            load = start_load(name)
            try:
                show(name)
            finally:
                stop_load(load)
    finally:
        with open(STATS, "w", encoding="ascii") as f:
            f.write(before)


main()
