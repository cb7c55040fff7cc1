# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts whose network to two ClickHouse servers is cut for a while, in which one server is killed and started again. It is no test,
as it takes longer than the outage.

    outage.py BRANCHCTL BRANCHD-SHIP SCHEMA [HOSTS] [SECONDS]"""

import collections
import os
import sys
import tempfile
import time

import clickhouse
from harness import check, finish
from network import Network, check_windows
from ship_host import Host, wait_for

SCHEMA = os.path.abspath(sys.argv[3])
N_HOSTS, SECONDS = [int(word) for word in sys.argv[4:6] + ["20", "600"][len(sys.argv[4:6]):]]
LONGEST = 420  # a wait of 300 s, and a request that has no answer


def start_servers(folder):
    servers = [clickhouse.Server(folder, f"server-{i}") for i in range(2)]
    for server in servers:
        server.configure(servers)
        server.start()
        server.run_file(SCHEMA)
    return servers


def close_windows(hosts, n, interval):
    for _ in range(n):
        for host in hosts:
            host.close_windows(1)
        time.sleep(interval)


def is_there(hosts, servers):
    counts = collections.Counter()
    for server in servers:
        counts.update(dict(server.rows("SELECT host, count() FROM branchd.windows GROUP BY host")))
    return sum(counts[host.name] == len(host.batched()) for host in hosts)


def spool_bytes(host):
    return sum(os.path.getsize(os.path.join(host.spool, name)) for name in os.listdir(host.spool))


def cut(hosts, servers, networks):
    """A window each ten seconds meanwhile; in the middle of it a server is killed."""
    for network in networks:
        network.is_cut = True
    close_windows(hosts, SECONDS // 20, 10)
    servers[1].kill()
    servers[1].start()
    close_windows(hosts, SECONDS // 20, 10)
    print(f"spool of a host at the end: {max(map(spool_bytes, hosts)) / 1024:.0f} KiB at most")
    print(f"failures of a host: {min(host.status()['failures'] for host in hosts)} to {max(host.status()['failures'] for host in hosts)}")


def come_back(hosts, servers, networks):
    start = time.monotonic()
    for network in networks:
        network.mend()
    for share in 0.5, 1:
        wait_for(f"{share:.0%} of the hosts", lambda share=share: is_there(hosts, servers) >= share * len(hosts), LONGEST)
        print(f"{share:.0%} of the hosts have sent all {time.monotonic() - start:.0f} s after the network is back")
    busiest = collections.Counter(int(t - start) for network in networks for t in network.times if t >= start).most_common(1)
    print(f"connections in the busiest second after that, of {len(hosts)} hosts: {busiest[0][1]}")


clickhouse.skip_without()
with tempfile.TemporaryDirectory() as place:
    shards = start_servers(place)
    ways = [Network(server.http) for server in shards]
    machines = [Host(place, f"host-{i}", ways[i % 2].port) for i in range(N_HOSTS)]
    for machine in machines:
        machine.start()
    close_windows(machines, 3, 0)
    wait_for("the first windows", lambda: is_there(machines, shards) == N_HOSTS)
    cut(machines, shards, ways)
    come_back(machines, shards, ways)
    for i, machine in enumerate(machines):
        check_windows(shards[i % 2], machine, machine.name)
        check(machine.status()["dropped_windows"] == 0, machine.status())
        machine.stop()
        machine.daemon.close()
    print(f"{N_HOSTS} hosts of {sum(len(machine.batched()) for machine in machines)} windows, cut for {SECONDS} s")
    for shard in shards:
        shard.kill()
finish()
