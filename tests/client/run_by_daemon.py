# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl run with the real branchd: programs that end well, fail, fork, are killed, and are interrupted."""

import ctypes
import errno
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

from commands import LIMIT, NOBODY, SPIN, check_file, check_interrupted, check_not_run, check_other_user, \
    check_report, n_samples
from harness import branchctl, check, finish, run
from real_daemon import closed_windows, document, start, stop, wait_for_window_after, \
    wait_for_windows

branchd = os.path.abspath(sys.argv[2])
BY_DAEMON = "sampled by branchd at 997 Hz"


def check_statuses(socket):
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", "echo before; " + SPIN)
    check(status == 0 and out.startswith("before\nsampled by branchd at 997 Hz\nsh: "), status, out, err)
    check_report(out, "a loop", BY_DAEMON)
    check(n_samples(out) > 20, "samples of a loop:", out)
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", SPIN + "; exit 7")
    check(status == 7, "status of a failure", status, err)
    check_report(out, "a failure", BY_DAEMON)
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", SPIN + "; kill -9 $$")
    check(status == 128 + signal.SIGKILL, "status of what was killed", status, err)
    check_report(out, "what was killed", BY_DAEMON)
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "true")
    check(status == 0 and "few samples; branchctl run --self" not in out, "true", status, out, err)
    status, out, err = run("run", "-o", "-", "--socket", socket, "--self", "--", "sh", "-c", SPIN)
    check(status == 0, "--self", status, err)
    check_report(out, "--self", "sampled by branchctl at 997 Hz, user code alone")


def check_kernel(socket):
    status, out, err = run("run", "-o", "-", "-n", "0", "--socket", socket, "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1M",
                           "count=3000")
    check(status == 0 and "[kernel" in out, "no code of the kernel:", status, out, err)


def check_children(socket):
    """Many short ones, while another program is busy that is not of the command."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", "for i in $(seq 400); do /bin/true; done")
        other.kill()
    check(status == 0, "many children", status, err)
    check_report(out, "many children", BY_DAEMON)
    check(n_samples(out) > 20 and "python" not in out, "samples of many children:", out)
    work = "n = 0\nfor i in range(3000000): n += i"
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", '"$0" -c "$1" & wait; exit 3', sys.executable,
                           work)
    check(status == 3 and "python" in out, "samples of the child:", status, out, err)


N_SHORT = 40


def spin_briefly(directory):
    """The command: many programs of one name, one after the other, for longer than a window."""
    program = os.path.join(directory, "brief")
    with open(program, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ni=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\n")
    os.chmod(program, 0o755)
    return ["sh", "-c", f"for i in $(seq {N_SHORT}); do {program}; done; sleep 2.5"]


def brief_processes(socket, windows):
    """Of all these windows: the numbers of those that are apart, and how many are counted together."""
    pids, gone = set(), 0
    for window in windows:
        for row in document(socket, "top", str(window["id"]), "--by", "process", "-n", "0")["rows"]:
            if row["comm"] == "brief":
                pids |= {row["pid"]} - {None}
                gone += row["gone"]
    return pids, gone


def check_short_processes(socket, directory):
    """In windows that close they are counted together, but not while a command runs, all of which is found then."""
    work = spin_briefly(directory)
    first = max(w["id"] for w in closed_windows(socket))
    subprocess.run(work, check=True)
    wait_for_window_after(socket, time.time())
    pids, gone = brief_processes(socket, (w for w in closed_windows(socket) if w["id"] > first))
    check(gone >= 16 and len(pids) <= N_SHORT - 16, "counted together:", gone, "apart:", len(pids))
    first = max(w["id"] for w in closed_windows(socket))
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", *work)
    check(status == 0 and "missing" not in err, "short processes:", status, err)
    pids, gone = brief_processes(socket, (w for w in closed_windows(socket) if w["id"] > first))
    check(gone == 0 and len(pids) > N_SHORT // 2, "while a command runs, counted together:", gone, "apart:", len(pids))
    check(n_samples(out) > 40, "samples of short processes:", out)


def forbid_perf_events():
    """From here on, as where kernel.perf_event_paranoid is 3: a filter of system calls (seccomp(2))."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno.EACCES), (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # no new privileges; the filter
        raise OSError(ctypes.get_errno(), "prctl")


def check_unprivileged(socket, folder):
    """They see their own processes, short ones only where perf events are permitted."""
    os.chmod(folder, 0o755)
    os.chmod(socket, 0o666)
    for prepare, permitted in (None, True), (forbid_perf_events, False):
        done = subprocess.run([branchctl, "run", "-o", "-", "--socket", socket, "--", "sh", "-c",
                               f"sh -c 'sleep 0.1; {SPIN}' & wait"], user=NOBODY, group=NOBODY, extra_groups=[],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False, cwd="/",
                              preexec_fn=prepare)
        out, err = done.stdout.decode(), done.stderr.decode()
        check(done.returncode == 0, "unprivileged:", permitted, done.returncode, err)
        check_report(out, "unprivileged", BY_DAEMON)
        check(n_samples(out) > 20, "unprivileged, the child:", permitted, out)
        check(("milliseconds are missing" in err) != permitted, "unprivileged:", permitted, err)
    check_other_user("--socket", socket)


def check_stopped(socket, daemon):
    """The daemon ends while the command runs: one line says what is lost."""
    with subprocess.Popen([branchctl, "run", "-o", "-", "--socket", socket, "--", "sh", "-c", "echo begins; read x; exit 5"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        check(process.stdout.readline() == b"begins\n", "it does not begin")
        stop(daemon)
        out, err = process.communicate(b"\n", timeout=LIMIT)
    check(process.returncode == 1 and not out and err.count(b"\n") == 1 and b"lost" in err, process.returncode, out, err)
    status, out, err = run("run", "-o", "-", "--socket", socket, "--", "sh", "-c", SPIN)
    check(status == 0 and "branchd is not running" in err and "by itself" in err, status, err)
    check_report(out, "without the daemon", "sampled by branchctl at 997 Hz, user code alone")


with tempfile.TemporaryDirectory() as state:
    process, path = start(branchd, state)
    wait_for_windows(path, 1)
    check_statuses(path)
    check_kernel(path)
    check_children(path)
    check_short_processes(path, state)
    check_interrupted(BY_DAEMON, "--socket", path)
    check_file("--socket", path)
    check_not_run(state, "--socket", path)
    check_unprivileged(path, state)
    check_stopped(path, process)
finish()
