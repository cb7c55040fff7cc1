# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd-ship, a real ClickHouse server, and what comes between: a network that is cut, clocks that are put back, many hosts at once.

    faults.py BRANCHCTL BRANCHD-SHIP SCHEMA"""

import os
import signal
import sys
import tempfile

import clickhouse
import mock_daemon
from harness import check, finish
from network import Network, check_windows, wait_for_all
from ship_host import Host, wait_for

SCHEMA = os.path.abspath(sys.argv[3])


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


def check_new_database(folder, server):
    """A daemon begins a new database, whose ids are lower, while a batch is incomplete: that batch is sent without windows of the new
    one. So the server, which has it, is asked for the right ids when the answer is lost."""
    network = Network(server.http)
    host = Host(folder, "database", network.port)
    host.start()
    host.close_windows(3)
    wait_for_all(server, host)
    host.close_windows(2, 300)
    wait_for("both to be asked for", lambda: sum(call["method"].endswith(".GetProfile") for call in host.daemon.calls) == 5)
    network.lose_answers = True
    host.daemon.begin_database()
    host.next = 1
    host.batched = lambda: host.closed
    host.close_windows(3, 200)
    wait_for("bytes that are lost", lambda: network.swallowed)
    network.mend()
    wait_for_all(server, host)
    check_windows(server, host, "a new database")
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
        check_new_database(place, only)
        check_clock(place, only)
        check_many(place, only)
    finally:
        only.kill()
finish()
