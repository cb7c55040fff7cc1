# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long branchctl takes from its start to its end, and the live view to its first rows, beside a daemon that has a
day of made-up windows and goes on with those of this machine: on a terminal of 80 columns, in a pipe, and as cron runs
it, with next to no environment and its output into a file.

    start.py BRANCHCTL BRANCHD SERVE-WINDOWS

As root. ROUNDS=N, 40. Prints milliseconds, on the clock.
"""

import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

branchctl, branchd, serve = sys.argv[1:]
ROUNDS = int(os.environ.get("ROUNDS", "40"))
WINDOWS = 1740
ROWS = b"FUNCTION"  # above the rows of the live view
WAIT = float(os.environ.get("WAIT", "45"))  # seconds: the first windows of its own, and names


def read_all(descriptor):
    """Bytes that come until the other end is closed."""
    size = 0
    try:
        while part := os.read(descriptor, 65536):
            size += len(part)
    except OSError:
        pass  # a terminal whose other end has gone
    return size


def on_terminal(command):
    """A view that stays open has started when its first rows are there."""
    start = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execve(command[0], command, dict(os.environ, TERM="xterm-256color", PAGER="cat"))
    if command[-1] == "top":
        screen = b""
        while ROWS not in screen:
            screen += os.read(terminal, 65536)
        took = time.monotonic() - start
        os.write(terminal, b"q")
        size = len(screen) + read_all(terminal)
    else:
        size = read_all(terminal)
        took = time.monotonic() - start
    os.close(terminal)
    return took, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), size


def in_pipe(command):
    start = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        size = read_all(child.stdout.fileno())
    return time.monotonic() - start, child.returncode, size


def in_cron(command):
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False,
                              env={"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "HOME": "/", "LOGNAME": "root"})
        return time.monotonic() - start, done.returncode, output.tell()


def make_day(state):
    """The database of a day that ends now."""
    database, path = os.path.join(state, "branchd.db"), os.path.join(state, "made.socket")
    with subprocess.Popen([serve, path, database, "day", str(WINDOWS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        server.stdin.close()
        server.stdout.read()


def measure(path):
    listed = json.loads(subprocess.check_output([branchctl, "--socket", path, "windows", "--json"]))
    last = max(int(window["id"] or 0) for window in listed["windows"])
    assert last > WINDOWS, last
    for arguments in ["top"], ["top", "@-1"], ["top", "%d..%d" % (last - 29, last)], ["top", "--by", "process", "@-1"]:
        for way in on_terminal, in_pipe, in_cron:
            took = []
            for _ in range(ROUNDS):
                seconds, status, size = way([branchctl, "--socket", path, *arguments])
                took.append(seconds * 1000)
                assert status == 0 and size > 200, (arguments, way, status, size)
            print("%-24s %-12s first %5.1f, median %5.1f, longest %5.1f ms" % (
                " ".join(arguments), way.__name__, took[0], statistics.median(took), max(took)), flush=True)


with tempfile.TemporaryDirectory() as state:
    socket, config = os.path.join(state, "socket"), os.path.join(state, "branchd.conf")
    make_day(state)
    with open(config, "w", encoding="utf-8"):
        pass
    with subprocess.Popen([branchd, "--config", config, "--state-directory", state, "--socket", socket]) as daemon:
        try:
            time.sleep(WAIT)
            measure(socket)
        finally:
            daemon.terminate()
