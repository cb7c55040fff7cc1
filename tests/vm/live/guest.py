# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the suites in the guest share: programs of the build, the simulated PMU, branchd and its reports."""

import ctypes
import json
import os
import re
import signal
import struct
import subprocess
import tempfile
import time

BUILD = os.environ["BUILD"]
PATIENCE = 600  # seconds: it is an emulator, on a machine that has other work, too
PARAMETERS = "/sys/module/simpmu/parameters/"


def built(path):
    return os.path.join(BUILD, path)


def wait_for(condition, what):
    """What the condition gives once it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.3)
    raise AssertionError(f"in {PATIENCE} s not: {what}")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def as_user(uid):
    """Options of subprocess: with no group but its own."""
    return {"user": uid, "group": uid, "extra_groups": []}


def answer(call):
    """What branchctl prints; again if the daemon was too busy to answer, as an emulated one may be."""
    end = time.monotonic() + PATIENCE
    done = call()
    while "timed out" in done.stderr and time.monotonic() < end:
        done = call()
    assert done.returncode == 0, (done.args, done.stderr)
    return done.stdout


class Common:
    """All events overflow together, so often (README.md), as long as this lasts."""

    def __init__(self, microseconds):
        self.microseconds = microseconds

    def __enter__(self):
        write(PARAMETERS + "common_us", self.microseconds)

    def __exit__(self, *_):
        write(PARAMETERS + "common_us", 0)


class Processor:
    """The processor says that it is another one, and the PMU is as that has it, as long as this lasts."""

    def __init__(self, cpuid, flag, **parameters):
        self.cpuid, self.flag = cpuid, flag
        self.parameters = parameters
        self.usual = {}

    def __enter__(self):
        with open("/proc/cpuinfo", encoding="ascii") as file:
            text = file.read()
        names = ["vendor_id", "cpu family", "model", "stepping"]
        for name, value in zip(names, self.cpuid):
            text = re.sub(rf"(?m)^{name}(\s*): .*", rf"{name}\1: {value}", text)
        write("/run/cpuinfo", re.sub(r"(?m)^flags(\s*): ", rf"flags\1: {self.flag} ", text))
        subprocess.run(["mount", "--bind", "/run/cpuinfo", "/proc/cpuinfo"], check=True)
        for name, value in self.parameters.items():
            with open(PARAMETERS + name, encoding="ascii") as file:
                self.usual[name] = file.read()
            write(PARAMETERS + name, value)

    def __exit__(self, *_):
        for name, value in self.usual.items():
            write(PARAMETERS + name, value)
        subprocess.run(["umount", "/proc/cpuinfo"], check=True)


class Program:
    """A program that is busy on a CPU of its own."""

    def __init__(self, cpu, *command, uid=0):
        self.command = command
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        **as_user(uid),
                                        preexec_fn=lambda: os.sched_setaffinity(0, [cpu]))
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Daemon:
    """
    branchd as it is, with state of its own; "before" is what runs it, an argument vector. Sample few programs:
    all that is seen is given names, and what takes a processor a second, an emulator takes a minute.
    """

    def __init__(self, sampling="", before=(), uid=0):
        self.place = tempfile.mkdtemp(prefix="branchd-")
        os.chown(self.place, uid, uid)
        os.chmod(self.place, 0o755)
        self.socket = self.place + "/socket"
        write(self.place + "/branchd.conf", f"[Sampling]\nCpuBudget=infinity\n{sampling}\n[Store]\nWindowSec=1h\n"
              "[Symbols]\nRemoteFilesystems=yes\n")  # the programs lie on 9p
        self.journal = open(self.place + "/journal", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [*before, built("daemon/branchd"), "--config", self.place + "/branchd.conf",
             "--state-directory", self.place + "/state", "--socket", self.socket],
            stderr=self.journal)
        wait_for(self.answers, "the daemon answers")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        assert status == 0, f"branchd ended with {status}: {self.said()}"
        self.journal.close()

    def answers(self):
        assert self.process.poll() is None, self.said()
        return os.path.exists(self.socket) and self.call("status").returncode == 0

    def said(self):
        with open(self.place + "/journal", encoding="utf-8") as file:
            return file.read()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def call(self, *arguments, uid=0):
        """branchctl, as this or another user."""
        return subprocess.run([built("client/branchctl"), "--socket", self.socket,
                               *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, **as_user(uid))

    def ask(self, *arguments, uid=0):
        """What it says with --json."""
        return json.loads(answer(lambda: self.call(*arguments, "--json", uid=uid)))

    def sampling(self):
        return self.ask("status")["sampling"]

    def all_windows(self):
        """Those there are, the open one too, as a reference."""
        return "-1h.."


def dump_samples(mode, command, during=None):
    """The daemon's stream while the command runs: its samples in order of time, as dictionaries."""
    with subprocess.Popen([built("tests/vm/dump-samples"), mode, *command], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dump:
        if during:
            during()
        text = dump.communicate()[0]
    assert dump.returncode == 0, f"dump-samples ended with {dump.returncode}"
    return [read_sample(line) for line in text.splitlines() if line.startswith("cpu=")]


def read_sample(line):
    words = dict(word.split("=", 1) for word in line.split())
    sample = {name: int(words[name], 0) for name in
              ("cpu", "time", "pid", "tid", "ip", "calls", "zero", "wrong")}
    sample["hw_idx"] = None if words["hw_idx"] == "-" else int(words["hw_idx"])
    sample["rows"] = [tuple(int(number, 16) for number in row.split("/"))
                      for row in words["rows"].split(",") if row]
    return sample


class Disassembly:
    """A program's functions and instructions, by objdump: of each the address, length and text."""

    def __init__(self, path):
        text = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", path], check=True,
                              capture_output=True, text=True).stdout
        self.labels, self.instructions = {}, []
        for line in text.splitlines():
            label = re.match(r"([0-9a-f]+) <(.*)>:$", line)
            instruction = re.match(r" +([0-9a-f]+):\t(.*)$", line)
            if label:
                self.labels[int(label[1], 16)] = label[2]
            elif instruction:
                self.instructions.append((int(instruction[1], 16), instruction[2].strip()))

    def address_of(self, name):
        return next(at for at, label in self.labels.items() if label == name)


def keep_patched():
    """
    With the first event that has branch records, and after the last, the kernel patches the code of its
    scheduler, at which an emulator may stumble: one of them stays open.
    """
    hardware, cycles, sampled = 0, 0, 1 << 11  # PERF_TYPE_HARDWARE and so on; see perf_event_open(2)
    any_user, disabled = 1 << 3 | 1 << 0, 1
    attr = struct.pack("=IIQQQQQIIQQQ", hardware, 80, cycles, 1000000, sampled, 0, disabled, 0, 0, 0, 0,
                       any_user)
    fd = ctypes.CDLL(None, use_errno=True).syscall(298, attr, -1, 0, -1, 0)
    assert fd >= 0, os.strerror(ctypes.get_errno())
