# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long questions about days and weeks take, beside what they may take: top of the last 24 hours by each view, diff of
the last day and the one before, history of a function over all; the daemon's own server, the start of branchctl
included.

    weeks.py BRANCHCTL SERVE-WINDOWS DATABASE [COMMAND...]

DATABASE is what measure-weeks leaves: it is only read. Cold: by a server that has just started, after the kernel was asked to
drop the pages of the file, which it cannot on a file system in memory. Warm: the median of ROUNDS=N rounds after that.
With COMMANDs, such as "top by stack", only these.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

branchctl, serve, database = sys.argv[1:4]
if not os.path.exists(database):
    print("no database %s: let measure-weeks make it" % database)
    sys.exit(77)
wanted = sys.argv[4:]
rounds = int(os.environ.get("ROUNDS", "5"))
VIEWS = ("function", "object", "process", "unit", "comm", "container", "line", "stack", "stream", "branch", "branch-site",
         "block")
HOUR = 3600


class Server:
    def __init__(self, place):
        self.socket = os.path.join(place, "socket")
        self.child = subprocess.Popen([serve, self.socket, database, "busy", "0"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        assert self.child.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.child.stdin.close()
        self.child.wait()

    def cpu(self):
        with open("/proc/%d/stat" % self.child.pid, encoding="utf-8") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def most(self):
        """The most memory that it had, in MiB."""
        with open("/proc/%d/status" % self.child.pid, encoding="utf-8") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024

    def output(self, *command):
        return subprocess.check_output([branchctl, "--socket", self.socket, *command])

    def ask(self, command):
        """Seconds: on the clock, and of the CPU of branchctl; and its memory in MiB."""
        started = time.monotonic()
        child = os.posix_spawn(branchctl, [branchctl, "--socket", self.socket, *command], os.environ,
                               file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
        if status != 0:  # the client waits 30 s
            print(" ".join(command), "failed: the next figures are of what follows", flush=True)
        return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def drop_pages():
    fd = os.open(database, os.O_RDONLY)
    os.fdatasync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def moment(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def span(since, until):
    return moment(since) + ".." + moment(until)


def measure(name, command, aim_ms):
    with tempfile.TemporaryDirectory() as place:
        drop_pages()
        with Server(place) as server:
            cold = server.ask(command)
            first = before = server.cpu()
            warm = [server.ask(command) for _ in range(rounds)]
            served = (server.cpu() - before) / rounds
            print("%-18s aim %3d ms, warm %5.0f ms, cold %5.0f ms; of the CPU %4.0f ms of the server (at first %5.0f ms), "
                  "%4.0f ms of branchctl; %3.0f MiB, %3.0f MiB" %
                  (name, aim_ms, 1e3 * statistics.median(row[0] for row in warm), 1e3 * cold[0], 1e3 * served,
                   1e3 * first, 1e3 * statistics.median(row[1] for row in warm), server.most(),
                   max(row[2] for row in warm)), flush=True)


def choose():
    """All commands: a name, what it is, and how many ms it may take."""
    with tempfile.TemporaryDirectory() as place, Server(place) as server:
        windows = json.loads(server.output("windows", "--json"))["windows"]
        closed = [w for w in windows if not w["open"]]
        end = int(closed[-1]["start"] + closed[-1]["length"])
        start = int(closed[0]["start"])
        day, before = span(end - 24 * HOUR, end), span(end - 48 * HOUR, end - 24 * HOUR - 1)
        rows = json.loads(server.output("top", "--json", "-n", "10", day))["rows"]
        function = next(row["symbol"] for row in rows if row.get("symbol"))
    print("%d windows, %.1f days, %.0f MiB; %s" %
          (len(closed), (end - start) / 24 / HOUR, os.path.getsize(database) / 2**20, function), flush=True)
    for view in VIEWS:
        yield "top by " + view, ["top", "--by", view, day], 100
    for view in ("function", "object", "process", "line", "block", "stream"):
        yield "diff by " + view, ["diff", "--by", view, before, day], 300
    yield "history", ["history", function, span(start, end)], 200


for row in choose():
    if not wanted or row[0] in wanted:
        measure(*row)
