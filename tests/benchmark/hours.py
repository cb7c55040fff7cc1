# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long branchctl diff of two hours of windows takes: made-up ones of a busy machine, and the daemon's own server.

    hours.py BRANCHCTL SERVE-WINDOWS FOLDER

WINDOWS=N, of 10 s each, 360 a side; ROUNDS=N. The database stays in FOLDER for the next time.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

branchctl, serve, folder = sys.argv[1:]
windows = int(os.environ.get("WINDOWS", "360"))
rounds = int(os.environ.get("ROUNDS", "3"))


def cpu_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(pid, socket, *arguments):
    """Seconds that a diff of both halves takes; and of the CPU those of branchctl, and of the server."""
    before, served = resource.getrusage(resource.RUSAGE_CHILDREN), cpu_of(pid)
    started = time.monotonic()
    subprocess.run([branchctl, "--socket", socket, "diff", "1..%d" % windows,
                    "%d..%d" % (windows + 1, 2 * windows), *arguments],
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, \
        cpu_of(pid) - served


with tempfile.TemporaryDirectory() as place:
    path = os.path.join(place, "socket")
    database = os.path.join(folder, "hours-%d.db" % windows)
    with subprocess.Popen([serve, path, database, "busy", str(2 * windows)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        print("windows a side: %d, database: %.0f MiB" % (windows, os.path.getsize(database) / 2**20))
        for arguments in ([], ["--comm", "worker"], ["--pid", "1007"], ["--by", "object"], ["--by", "process"],
                          ["--by", "unit"]):
            for _ in range(rounds):
                print("diff %-16s %.3f s, of the CPU %.3f s of branchctl, %.2f s of the server" %
                      (" ".join(arguments), *ask(server.pid, path, *arguments)), flush=True)
        server.stdin.close()
        print("the server:", server.stdout.read().decode().strip())
