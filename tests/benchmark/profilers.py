# SPDX-License-Identifier: LGPL-2.1-or-later
"""Profilers as the benchmarks run them, and what they take: CPU time, memory, that of their BPF programs."""
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time

STATS = "/proc/sys/kernel/bpf_stats_enabled"
BPFTRACE = dict(os.environ, BPFTRACE_MAP_KEYS_MAX="100000")  # its environment


def processes(pid):
    """It and all its descendants."""
    yield pid
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                for child in f.read().split():
                    yield from processes(int(child))
    except OSError:
        pass  # it ended meanwhile


class Group:
    """A control group, which counts the CPU time of all that ever ran in it to the nanosecond; /proc counts ticks."""

    def __init__(self):
        for folder, self.file in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
            self.path = f"{folder}/branchd-cost-{os.getpid()}"
            if os.path.exists(f"{folder}/cgroup.procs"):
                os.mkdir(self.path)
                return
        sys.exit("there is no control group that counts CPU time: mount cgroup2 at /sys/fs/cgroup")

    def enter(self):
        with open(self.path + "/cgroup.procs", "w", encoding="ascii") as f:
            f.write("0")

    def cpu_seconds(self):
        with open(f"{self.path}/{self.file}", encoding="ascii") as f:
            words = f.read().split()
        return int(words[0]) / 1e9 if len(words) == 1 else int(words[words.index("usage_usec") + 1]) / 1e6

    def processes(self):
        with open(self.path + "/cgroup.procs", encoding="ascii") as f:  # an open one goes on to say the same
            return f.read().split()

    def remove(self):
        """Helpers may need a moment to end, and must not be left behind."""
        if self.wait_for_end(10):
            print("did not end, and are killed:", *self.processes(), file=sys.stderr)
            self.kill()
            if left := self.wait_for_end(10):
                sys.exit(f"SIGKILL does not end {left}")
        os.rmdir(self.path)

    def wait_for_end(self, seconds):
        """What is left then."""
        until = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.1)
        return left

    def kill(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it has ended after all
                os.kill(int(pid), signal.SIGKILL)


def field(path, name):
    """Of a file of /proc with lines such as "VmRSS: 12 kB", MiB."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name + ":")) / 1024


def memory(pid):
    """Of it and its descendants (PSS), MiB."""
    total = 0
    for each in processes(pid):
        with contextlib.suppress(OSError, StopIteration):  # it ended meanwhile
            total += field(f"/proc/{each}/smaps_rollup", "Pss")
    return total


def peak_memory(pid):
    """
    The same, and what the one of them that had most more had more at some time since the last call: what is in memory for
    a tenth of a second at the end of a window counts.
    """
    total, most = memory(pid), 0
    for each in processes(pid):
        with contextlib.suppress(OSError, StopIteration):
            status = f"/proc/{each}/status"
            most = max(most, field(status, "VmHWM") - field(status, "VmRSS"))
            with open(f"/proc/{each}/clear_refs", "w", encoding="ascii") as f:
                f.write("5")  # proc(5): resets VmHWM
    return total + most


def threads(pids):
    """
    Of all their threads, by number: the name, wake-ups (how often it gave the CPU up by itself: what preempts it does not
    wake it), and nanoseconds of CPU by the scheduler's sums.
    """
    result = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in os.listdir(f"/proc/{pid}/task"):
                folder = f"/proc/{pid}/task/{task}"
                with open(folder + "/comm", encoding="utf-8", errors="replace") as file:
                    name = file.read().strip()
                with open(folder + "/status", encoding="utf-8", errors="replace") as file:
                    wakeups = next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
                with open(folder + "/schedstat", encoding="ascii") as file:
                    result[task] = name, wakeups, int(file.read().split()[0])
    return result


def program_cost(name):
    """Run time and runs of the BPF program that is called so."""
    output = subprocess.run(["bpftool", "prog", "show", "--json"], check=True, capture_output=True).stdout
    for program in json.loads(output):
        if program.get("name", "").startswith(name):
            return program.get("run_time_ns", 0), program.get("run_cnt", 0)
    return 0, 0


def branchd_command(branchd, place, sampling, store=()):
    """With its state and its socket in @place; @sampling and @store: lines of the two sections."""
    config = os.path.join(place, "branchd.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write("\n".join(["[Sampling]", *sampling, "[Store]", *store]) + "\n")
    return [branchd, "--config", config, "--state-directory", place + "/state", "--socket", place + "/socket"]


def branchd_status(place):
    """What GetStatus of the daemon of that place answers."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10)
        s.connect(place + "/socket")
        s.sendall(b'{"method":"io.branchd.GetStatus"}\0')
        answer = b""
        while not answer.endswith(b"\0"):
            part = s.recv(1 << 16)
            if not part:
                raise ConnectionError("branchd has ended")
            answer += part
    return json.loads(answer[:-1])["parameters"]


def perf_command(rate, place, *how):
    return ["perf", "record", "-q", "-F", str(rate), "-e", "cpu-clock", "-a", *how, "-o", place + "/perf.data"]


def bpftrace_command(rate, place):
    return ["bpftrace", "-q", "-o", place + "/stacks", "-e", f"profile:hz:{rate} {{ @[kstack, ustack, comm, pid] = count(); }}"]


def ends(process, seconds):
    """Whether it does so within that time; it is killed otherwise."""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def seconds_of(command, limit=None):
    """CPU time of a command; None if it takes longer than the limit to end, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not ends(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), limit):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextlib.contextmanager
def program_statistics():
    """The kernel counts what BPF programs take; the load is stopped, whatever ends this."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with open(STATS, encoding="ascii") as f:
        before = f.read()
    with open(STATS, "w", encoding="ascii") as f:
        f.write("1")
    try:
        yield
    finally:
        with open(STATS, "w", encoding="ascii") as f:
            f.write(before)
