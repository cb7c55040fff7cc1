# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchd-ship costs and what it sends: made-up windows from the daemon's store, in sums, to a ClickHouse server, or as profiles to a
server that takes all.

    cost.py BRANCHCTL BRANCHD-SHIP SCHEMA SERVE-WINDOWS FORMAT KIND WINDOWS SUMSEC [https|https-system]

FORMAT is clickhouse, pprof or otlp, KIND that of serve-windows. WINDOWS are of 10 s, a multiple of SUMSEC. By https-system branchd-ship
reads the authorities of the system as well as that of the server."""

import os
import subprocess
import sys
import tempfile

import clickhouse
from acceptor import Acceptor
from loopback import make_certificate
from ship_host import SHIP, wait_for

SCHEMA, SERVE = [os.path.abspath(word) for word in sys.argv[3:5]]
FORM, KIND, WINDOWS, SUM = sys.argv[5], sys.argv[6], int(sys.argv[7]), int(sys.argv[8])
N_SUMS = WINDOWS * 10 // SUM
PATIENCE = 600
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


class Tables:
    """A ClickHouse server."""

    def __init__(self, place, certificate):
        clickhouse.skip_without()
        self.server = clickhouse.Server(place, "server")
        self.server.configure([self.server])
        self.server.start()
        self.server.run_file(SCHEMA)
        self.port = clickhouse.Proxy(self.server, certificate).port if certificate else self.server.http

    def n_sums(self):
        return self.server.rows("SELECT count() FROM branchd.windows")[0][0]

    def report(self):
        for table, in self.server.rows("SELECT name FROM system.tables WHERE database = 'branchd' AND engine LIKE '%MergeTree'"):
            self.server.ask(f"OPTIMIZE TABLE branchd.`{table}` FINAL")
        sizes = self.server.rows("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'branchd' "
                                 "GROUP BY table ORDER BY table")
        for table, rows, size in sizes + [("all", 0, sum(size for _, _, size in sizes))]:
            print(f"{table:28} {rows:9} rows {size:11} bytes")
        self.server.kill()


class Profiles:
    """A server that takes whatever comes."""

    def __init__(self, _place, certificate):
        self.server = Acceptor(certificate)
        self.port = self.server.port

    def n_sums(self):
        return len(self.server.profiles)

    def report(self):
        print(f"{self.n_sums()} profiles of {sum(len(body) for _, _, body in self.server.profiles) / self.n_sums() / 1024:.0f} KiB")


def ship(place, target):
    """Until all but the last sum has come: what the process used, and the kibibytes that it had at most."""
    arguments = [SHIP, "--config", place + "/ship.conf", "--socket", place + "/socket", "--spool", place + "/spool",
                 "--status-file", place + "/status"]
    with subprocess.Popen([SERVE, place + "/socket", place + "/database", KIND, str(WINDOWS)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as daemon:
        daemon.stdout.readline()
        with subprocess.Popen(arguments) as process:
            wait_for("all but the last sum", lambda: target.n_sums() >= N_SUMS - 1, PATIENCE)
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                peak = [line.split()[1] for line in file if line.startswith("VmHWM")][0]
            process.terminate()
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
        daemon.stdin.close()
    return used, int(peak)


with tempfile.TemporaryDirectory() as folder:
    pair = make_certificate(folder) if sys.argv[9:] else None
    if pair:
        system = AUTHORITIES if sys.argv[9] == "https-system" else ""
        subprocess.run(f"cat {system} {pair[0]} > {folder}/authorities", shell=True, check=True)
    receiver = (Tables if FORM == "clickhouse" else Profiles)(folder, pair)
    os.makedirs(folder + "/spool")
    with open(folder + "/spool/state", "w", encoding="utf-8") as state:
        state.write("0 1 0 0\n")
    way = {"clickhouse": "", "pprof": "ingest", "otlp": "v1development/profiles"}[FORM]
    with open(folder + "/ship.conf", "w", encoding="utf-8") as config:
        config.write(f"[Ship]\nUrl={'https' if pair else 'http'}://127.0.0.1:{receiver.port}/{way}\nFormat={FORM}\nHost=measured\n"
                     f"SumSec={SUM}\nBatchSec={SUM}\n" + (f"CAFile={folder}/authorities\n" if pair else ""))
    usage, kibibytes = ship(folder, receiver)
    receiver.report()
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{WINDOWS} windows of kind {KIND}, sums of {SUM} s, {FORM}{' by ' + sys.argv[9] if pair else ''}: {cpu / WINDOWS * 1000:.2f} ms of CPU "
          f"time a window, {cpu / WINDOWS / 10 * 100:.3f} % of a CPU at windows of 10 s; at most {kibibytes / 1024:.1f} MiB")
