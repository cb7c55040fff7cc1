# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchd-ship costs with Format=pprof and Format=otlp: busy windows of 10 s from the daemon's store, in sums, to a server that
takes all.

    measure_profiles.py BRANCHCTL BRANCHD-SHIP SERVE-WINDOWS WINDOWS [SUMSEC]"""

import os
import subprocess
import sys
import tempfile

import clickhouse  # noqa: F401: finds the folder of the next ones
from acceptor import Acceptor
from ship_host import SHIP, wait_for

SERVE, WINDOWS = os.path.abspath(sys.argv[3]), int(sys.argv[4])
SUM = int(sys.argv[5]) if len(sys.argv) > 5 else 600


def measure(place, name, path):
    server, count = Acceptor(), WINDOWS * 10 // SUM
    os.makedirs(place + "/spool")
    with open(place + "/spool/state", "w", encoding="utf-8") as file:
        file.write("0 1 0 0\n")
    with open(place + "/ship.conf", "w", encoding="utf-8") as file:
        file.write(f"[Ship]\nUrl=http://127.0.0.1:{server.port}/{path}\nFormat={name}\nHost=measured\nSumSec={SUM}\n")
    with subprocess.Popen([SERVE, place + "/socket", place + "/database", "busy", str(WINDOWS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as daemon:
        daemon.stdout.readline()
        with subprocess.Popen([SHIP, "--config", place + "/ship.conf", "--socket", place + "/socket", "--spool", place + "/spool",
                               "--status-file", place + "/status"]) as process:
            wait_for("all but the last sum", lambda: len(server.profiles) >= count - 1)
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                peak = [line.split()[1] for line in file if line.startswith("VmHWM")][0]
            process.terminate()
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
        daemon.stdin.close()
    size = sum(len(body) for _, _, body in server.profiles) / len(server.profiles)
    print(f"{name}: {len(server.profiles)} profiles of {size / 1024:.0f} KiB, {(used.ru_utime + used.ru_stime) / WINDOWS * 1000:.2f} ms of "
          f"CPU time a window, at most {int(peak) / 1024:.1f} MiB")


for form, where in ("pprof", "ingest"), ("otlp", "v1development/profiles"):
    with tempfile.TemporaryDirectory() as folder:
        measure(folder, form, where)
