# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd-ship, a real ClickHouse server, and what comes between: a network that is cut, clocks that are put back, many hosts at once.

    faults.py BRANCHCTL BRANCHD-SHIP SCHEMA"""

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading

import clickhouse
import mock_daemon
from harness import check, finish
from ship_host import Host, wait_for

SCHEMA = os.path.abspath(sys.argv[3])


class Network:
    """Passes bytes to the server and back. While it is cut, it takes them and passes none; when it is mended, connections from before
    are gone. With .lose_answers bytes to the server still pass."""

    def __init__(self, server_port, port=0):
        self.server, self.is_cut, self.lose_answers, self.swallowed = server_port, False, False, 0
        self.pairs, self.lock = [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server))
            with self.lock:
                self.pairs.append((client, server))
            for source, target, is_answer in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.copy, args=[source, target, is_answer], daemon=True).start()

    def copy(self, source, target, is_answer):
        try:
            while data := source.recv(65536):
                if self.is_cut or (is_answer and self.lose_answers):
                    self.swallowed += len(data)
                else:
                    target.sendall(data)
            if not self.is_cut:
                target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def mend(self):
        self.is_cut = self.lose_answers = False
        with self.lock:
            for pair in self.pairs:
                for end in pair:
                    with contextlib.suppress(OSError):  # it may have ended
                        end.shutdown(socket.SHUT_RDWR)
            self.pairs.clear()


def check_windows(server, host, what):
    """Each window once, in the tables and in their sums."""
    where = f"WHERE host = '{host.quoted}'"
    want = sorted((w["start_us"], w["id"], w["samples"]) for w in host.batched())
    got = server.rows(f"SELECT window, id, samples FROM branchd.windows {where} ORDER BY window, id")
    check(got == want, what, got, want)
    for table in "functions", "functions_minute", "functions_hour", "functions_day":
        got = server.rows(f"SELECT symbol, sum(self) FROM branchd.{table} {where} GROUP BY symbol HAVING sum(self) > 0 ORDER BY symbol")
        check(sorted(got) == host.functions(), what, table, got, host.functions())
    for table in "functions", "stacks":
        raw, once = [server.rows(f"SELECT count() FROM branchd.{name} {where}") for name in (table + "_rows", table)]
        check(raw == once, what, "rows that came twice", raw, once)


def wait_for_all(server, host):
    n = len(host.batched())
    wait_for(f"{n} windows of {host.name}", lambda: server.rows(f"SELECT count() FROM branchd.windows WHERE host = '{host.quoted}'") == [(n,)])
    wait_for("an empty spool", lambda: host.status().get("waiting_batches") == 0)


def check_cut(folder, server):
    """The network is cut between batches, and in the middle of one that the server has."""
    network = Network(server.http)
    host = Host(folder, "cut", network.port)
    host.start()
    host.close_windows(3)
    wait_for_all(server, host)
    for how in "is_cut", "lose_answers":
        setattr(network, how, True)
        host.close_windows(9, 300)
        wait_for("bytes that are lost", lambda before=network.swallowed: network.swallowed > before)
        wait_for("windows in the spool", lambda: host.status().get("waiting_batches", 0) >= 2 or
                 sum(name.endswith(".batch") for name in os.listdir(host.spool)) == 3)
        network.mend()
        wait_for_all(server, host)
        check_windows(server, host, how)
    check(host.status()["dropped_windows"] == 0, host.status())
    host.stop()
    host.daemon.close()


def check_clock(folder, server):
    """A clock that is put back by a minute: windows have the starts of others, and all count; also if branchd-ship was down, or dies."""
    host = Host(folder, "clock", server.http)
    host.start()
    host.close_windows(6)
    wait_for_all(server, host)
    host.start_us -= 6 * mock_daemon.LENGTH
    host.close_windows(6, 200)
    wait_for_all(server, host)
    check_windows(server, host, "the clock was put back")
    host.stop()
    host.daemon.followers.clear()
    host.start_us -= 4 * mock_daemon.LENGTH + 3 * mock_daemon.SECOND
    for _ in range(3):
        window = mock_daemon.window(host.next, host.start_us, 300)
        host.next, host.start_us = host.next + 1, host.start_us + mock_daemon.LENGTH
        host.closed.append(window)
        host.daemon.closed(window)
    host.daemon.windows[:-1] = sorted(host.daemon.windows[:-1], key=lambda w: w["start_us"])  # as a daemon lists them
    for number in signal.SIGTERM, signal.SIGKILL:
        host.daemon.followers.clear()
        host.start()
        wait_for_all(server, host)
        wait_for("a follower", lambda: host.daemon.followers)
        host.stop(number)
        check_windows(server, host, "the clock was put back before the start")
    host.daemon.close()


def check_many(folder, server):
    """Many hosts whose server was away come back, and each of their windows counts once."""
    port = clickhouse.free_port()
    hosts = [Host(folder, f"many-{i}", port) for i in range(8)]
    for host in hosts:
        host.start()
        host.close_windows(6)
    for host in hosts:
        wait_for("failures", lambda host=host: host.status().get("failures", 0) >= 2)
    network = Network(server.http, port)
    for host in hosts:
        wait_for_all(server, host)
        check_windows(server, host, "after an outage")
        host.stop()
        host.daemon.close()
    check(network.swallowed == 0, "bytes lost", network.swallowed)


clickhouse.skip_without()
with tempfile.TemporaryDirectory() as place:
    only = clickhouse.Server(place, "server")
    only.configure([only])
    only.start()
    only.run_file(SCHEMA)
    try:
        check_cut(place, only)
        check_clock(place, only)
        check_many(place, only)
    finally:
        only.kill()
finish()
