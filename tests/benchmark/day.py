# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a day of windows takes: export for pprof, and top by each view; made-up windows of a busy machine, as they are
left after a day, and the daemon's own server.

    day.py BRANCHCTL SERVE-WINDOWS FOLDER

WINDOWS=N: 1740, of which the last 360 are of 10 s and the others of a minute; ROUNDS=N. The database stays in FOLDER for
the next time.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

branchctl, serve, folder = sys.argv[1:]
windows = int(os.environ.get("WINDOWS", "1740"))
rounds = int(os.environ.get("ROUNDS", "3"))


def cpu_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(pid, *command):
    """Seconds: on the clock; of the CPU, of the server and of branchctl; and the most MiB that branchctl had."""
    served, started = cpu_of(pid), time.monotonic()
    child = os.posix_spawn(branchctl, [branchctl, *command], os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    assert status == 0, status
    return time.monotonic() - started, cpu_of(pid) - served, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


with tempfile.TemporaryDirectory() as place:
    path, database = os.path.join(place, "socket"), os.path.join(folder, "day-%d.db" % windows)
    with subprocess.Popen([serve, path, database, "day", str(windows)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"ready\n"
        print("windows: %d, database: %.0f MiB" % (windows, os.path.getsize(database) / 2**20), flush=True)
        commands = [["export", "--format", "pprof", "-o", os.path.join(place, "pprof")]]
        commands += [["top", "--by", view] for view in ("function", "object", "process", "unit", "stack", "line", "comm",
                                                        "branch", "block")]
        for command in commands:
            for _ in range(rounds):
                print("%-16s %.2f s, of the CPU %.2f s of the server, %.2f s of branchctl; %.0f MiB" % (
                    " ".join(command[:3:2]), *ask(server.pid, "--socket", path, *command, "1..%d" % windows)),
                      flush=True)
        server.stdin.close()
        print("the server:", server.stdout.read().decode().strip())
