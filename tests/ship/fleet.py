# SPDX-License-Identifier: LGPL-2.1-or-later
"""A fleet of hosts and two ClickHouse servers as shards: rows, bytes, insert rate, and how long questions take.

    fleet.py BRANCHCTL FLEET-BATCHES SCHEMA CLUSTER host
    fleet.py BRANCHCTL FLEET-BATCHES SCHEMA CLUSTER fleet [HOSTS [BATCHES]]

host: a made-up busy host sends a whole day, in sums and batches of 10 min. fleet: HOSTS hosts (default: 200), half of them with another
build of a library, send a day each in BATCHES batches (default: 4) that divide the day, so that the inserts of a fleet take minutes.
Their windows are those of two hosts, under other names. All sums have to be those of the hosts' own windows before anything
was pruned. Times are those of the clock, beside the CPU time of the servers."""

import gzip
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

import clickhouse
from harness import check, finish, run

BATCHES_OF, SCHEMA, CLUSTER = [os.path.abspath(word) for word in sys.argv[2:5]]
MODE = sys.argv[5]
N_HOSTS, N_BATCHES = [int(word) for word in sys.argv[6:8] + ["200", "4"][len(sys.argv[6:8]):]]
TABLES = ["names", "functions", "stacks", "branches", "blocks", "streams", "windows"]
DAY = 86400
START = (int(time.time()) // DAY - 2) * DAY
WINDOWS = DAY // 10  # of 10 s
NAME = "host-of-the-template"
OLD, NEW = b"07" + b"0" * 36 + b"01", b"07ff" + b"0" * 34 + b"01"  # builds of a library
SUMS = {"stacks": "samples", "branches": "taken", "blocks": "runs"}


def cpu_of(servers):
    total = 0
    for server in servers:
        with open(f"/proc/{server.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class Template:
    """The batches of a host's day, and what its windows count."""

    def __init__(self, place, first, n_batches):
        folder = os.path.join(place, f"batches-{first}-{n_batches}")
        os.makedirs(folder)
        done = subprocess.run([BATCHES_OF, folder, NAME, str(START), str(first), str(WINDOWS // n_batches), str(n_batches)],
                              check=True, capture_output=True, text=True)
        lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
        self.sums = [sum(line[i] for line in lines) for i in (1, 2, 3)]
        self.batches = [self.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".batch")]

    def read(self, path):
        with open(path, "rb") as file:
            return {table: file.read(int(file.readline())) for table in TABLES}

    def sizes(self):
        """Bytes on the wire by table."""
        return {table: sum(len(batch[table]) for batch in self.batches) for table in TABLES}

    def unpack(self):
        for batch in self.batches:
            for table in TABLES:
                batch[table] = gzip.decompress(batch[table]) if batch[table] else b""


def insert(server, table, body):
    request = urllib.request.Request(f"http://127.0.0.1:{server.http}/?query=INSERT+INTO+branchd.{table}_rows+FORMAT+TabSeparated",
                                     data=body, headers={"Content-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        check(answer.read() == b"", table)


def send(server, batch, host="", new=False):
    """Under another name, and of another build."""
    for table in TABLES:
        text = batch[table]
        if not text:
            continue
        if host:
            text = text.replace(NAME.encode(), host.encode())
            text = gzip.compress(text.replace(OLD, NEW) if new and table in ("names", "functions") else text, 1)
        insert(server, table, text)


def merge_all(servers):
    for server in servers:
        for table, in server.rows("SELECT name FROM system.tables WHERE database = 'branchd' AND engine LIKE '%MergeTree'"):
            server.ask(f"OPTIMIZE TABLE branchd.`{table}` PARTITION '{time.strftime('%Y-%m-%d', time.gmtime(START))}' FINAL", 600)


def sizes_of(server):
    return {table: (rows, size) for table, rows, size in server.rows(
        "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'branchd' GROUP BY table")}


def measure_host(server, place):
    template = Template(place, 0, DAY // 600)
    wire = template.sizes()
    before = cpu_of([server])
    for batch in template.batches:
        send(server, batch)
    used = cpu_of([server]) - before
    merge_all([server])
    print(f"One busy host, a day, {len(template.batches)} batches of {WINDOWS // len(template.batches)} windows:")
    for table, (rows, size) in sorted(sizes_of(server).items()):
        sent = wire.get(table[:-len("_rows")], 0)
        print(f"  {table:26} {rows:9} rows {size / 1e6:7.2f} MB on disk {sent / 1e6:7.2f} MB on the wire")
    disk = sum(size for _, size in sizes_of(server).values())
    print(f"  all: {disk / 1e6:.2f} MB on disk, {sum(wire.values()) / 1e6:.2f} MB on the wire; {used:.1f} s of the server's CPU time")
    check_sums(server, NAME, template)


def check_sums(server, host, template):
    for (table, column), want in zip(SUMS.items(), template.sums):
        got = server.rows(f"SELECT sum({column}) FROM branchd.{table} WHERE host = '{host}'")
        check(got == [(want,)], host, table, got, want)
    for table in "functions", "functions_minute", "functions_hour", "functions_day":
        got = server.rows(f"SELECT sum(self) FROM branchd.{table} WHERE host = '{host}'")
        check(got == [(template.sums[0],)], host, table, got, template.sums[0])


def send_fleet(servers, templates):
    rows = sum(batch[table].count(b"\n") for batch in templates[0].batches for table in TABLES) * N_HOSTS
    before, start = cpu_of(servers), time.monotonic()
    for number in range(N_BATCHES):
        for host in range(N_HOSTS):
            template = templates[host % 2]
            send(servers[host // 2 % len(servers)], template.batches[number], f"host-{host:03}", host % 2 == 1)
    used = cpu_of(servers) - before
    print(f"{N_HOSTS} hosts, {N_BATCHES} batches each: {rows} rows; {used:.0f} s of the servers' CPU time, merges and sums included: "
          f"{rows / used:.0f} rows a second and core; {time.monotonic() - start:.0f} s by the clock, this program included", flush=True)


def ask(servers, what, *arguments):
    times = []
    for _ in range(5):
        before, start = cpu_of(servers), time.monotonic()
        status, out, err = run(*arguments, "--cluster", f"http://127.0.0.1:{servers[0].http}/", "-n", "5")
        times.append((time.monotonic() - start, cpu_of(servers) - before))
        check(status == 0, what, status, err)
    print(f"{what}: {sorted(t[0] for t in times)[2]:.2f} s by the clock (median of 5), {sorted(t[1] for t in times)[2]:.2f} s of the servers' "
          "CPU time")
    print("    " + "\n    ".join(out.splitlines()[:9]), flush=True)


def measure_fleet(servers, place):
    templates = [Template(place, first, N_BATCHES) for first in (0, WINDOWS)]
    for template in templates:
        template.unpack()
    send_fleet(servers, templates)
    span = time.strftime("%Y-%m-%d 00:00 UTC", time.gmtime(START)) + ".." + time.strftime("%Y-%m-%d 00:00 UTC", time.gmtime(START + DAY))
    questions = (("top of a day and all hosts", "top", span), ("top by unit", "top", span, "--by", "unit"),
                 ("top by host", "top", span, "--by", "host"),
                 ("diff of two builds", "diff", span, "--build-id", OLD[:8].decode(), "--build-id", NEW[:8].decode()))
    for question in questions:
        ask(servers, question[0] + ", as the merges left it", *question[1:])
    merge_all(servers)
    for question in questions:
        ask(servers, question[0] + ", all merged", *question[1:])
    for host in range(N_HOSTS):
        check_sums(servers[host // 2 % len(servers)], f"host-{host:03}", templates[host % 2])
    print(f"Sums of {N_HOSTS} hosts compared with their own windows.")


clickhouse.skip_without()
with tempfile.TemporaryDirectory() as temporary:
    shards = [clickhouse.Server(temporary, "shard1"), clickhouse.Server(temporary, "shard2")]
    try:
        for shard in shards:
            shard.configure(shards)
            shard.start()
            shard.run_file(SCHEMA)
            shard.run_file(CLUSTER)
        if MODE == "host":
            measure_host(shards[0], temporary)
        else:
            measure_fleet(shards, temporary)
    finally:
        for shard in shards:
            shard.kill()
finish()
