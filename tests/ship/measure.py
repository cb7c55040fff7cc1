# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchd-ship costs and what it sends: made-up windows of some kind, from the daemon's store to a ClickHouse server.

    measure.py BRANCHCTL BRANCHD-SHIP SCHEMA SERVE-WINDOWS KIND WINDOWS [SUMSEC]

WINDOWS are of 10 s, a multiple of SUMSEC."""

import os
import subprocess
import sys
import tempfile
import time

import clickhouse

SHIP, SCHEMA, SERVE = [os.path.abspath(word) for word in sys.argv[2:5]]
KIND, WINDOWS, SUM = sys.argv[5], int(sys.argv[6]), int(sys.argv[7]) if len(sys.argv) > 7 else 600

clickhouse.skip_without()
with tempfile.TemporaryDirectory() as place:
    server = clickhouse.Server(place, "server")
    server.configure([server])
    server.start()
    server.run_file(SCHEMA)
    os.makedirs(place + "/spool")
    with open(place + "/spool/state", "w", encoding="utf-8") as file:
        file.write("0 1 0 0\n")
    with open(place + "/ship.conf", "w", encoding="utf-8") as file:
        file.write(f"[Ship]\nUrl=http://127.0.0.1:{server.http}/\nHost=measured\nSumSec={SUM}\nBatchSec={SUM}\n")
    with subprocess.Popen([SERVE, place + "/socket", place + "/database", KIND, str(WINDOWS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as daemon:
        daemon.stdout.readline()
        with subprocess.Popen([SHIP, "--config", place + "/ship.conf", "--socket", place + "/socket", "--spool", place + "/spool",
                               "--status-file", place + "/status"]) as process:
            while server.rows("SELECT sum(last_id - id + 1) FROM branchd.windows")[0][0] < WINDOWS - max(SUM // 10, 1):
                time.sleep(0.2)
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                peak = [line.split()[1] for line in file if line.startswith("VmHWM")][0]
            process.terminate()
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
        daemon.stdin.close()
    n = server.rows("SELECT sum(last_id - id + 1) FROM branchd.windows")[0][0]
    for table, in server.rows("SELECT name FROM system.tables WHERE database = 'branchd' AND engine LIKE '%MergeTree'"):
        server.ask(f"OPTIMIZE TABLE branchd.`{table}` FINAL")
    print(f"{n} windows of kind {KIND}, sums of {SUM} s")
    total = 0
    for table, rows, size in server.rows("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND "
                                         "database = 'branchd' GROUP BY table ORDER BY table"):
        print(f"{table:28} {rows:9} rows {size:11} bytes {size / n:9.0f} a window {size / n * 8640 / 1e6:8.2f} MB a day")
        total += size
    print(f"{'all':28} {'':14} {total:11} bytes {total / n:9.0f} a window {total / n * 8640 / 1e6:8.2f} MB a day")
    cpu = used.ru_utime + used.ru_stime
    print(f"branchd-ship: {cpu:.2f} s of CPU time, {cpu / n * 1000:.2f} ms a window, {cpu / n / 10 * 100:.3f} % of a CPU at windows "
          f"of 10 s; at most {int(peak) / 1024:.1f} MiB")
    server.kill()
