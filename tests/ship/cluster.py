# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl --cluster and two real ClickHouse servers: what they answer are the sums of the rows that were sent.

    cluster.py BRANCHCTL SCHEMA CLUSTER JSON-SCHEMA..."""

import http.server
import json
import os
import random
import sys
import tempfile
import threading
import time

import clickhouse
from cluster_rows import Fleet, Row
from harness import check, finish, one_line, run

SCHEMA, CLUSTER = [os.path.abspath(word) for word in sys.argv[2:4]]
JSON_SCHEMAS = sys.argv[4:]
DAY = 86400
TODAY = int(time.time()) // DAY * DAY
OLD, NEW, OTHER = "0123456789abcdef" * 2 + "01234567", "fedcba9876543210" * 2 + "fedcba98", "ab" * 20


def when(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def span(start, end):
    return f"{when(start)}..{when(end)}"


def ask(server, command, *arguments):
    return run(command, "--cluster", f"http://127.0.0.1:{server.http}/", *arguments)


def ask_json(server, command, *arguments):
    status, out, err = ask(server, command, "--json", *arguments)
    return json.loads(out) if check(status == 0, command, arguments, status, err) else {"rows": [], "functions": [], "points": []}


def load_schemas():
    try:
        import jsonschema
    except ImportError:
        return {}
    files = {}
    for path in JSON_SCHEMAS:
        with open(path, encoding="utf-8") as file:
            files[os.path.basename(path)] = json.load(file)
    return {name[:-len(".json")]: jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver(name, schema, store=files))
            for name, schema in files.items()}


def check_schema(name, answer):
    if name in SCHEMAS:
        errors = [error.message[:300] for error in SCHEMAS[name].iter_errors(answer)]
        check(not errors, name, errors[:3])


def make_small(servers):
    """Three days of a few hosts, among them names that SQL would take for its own."""
    random.seed(7)
    fleet = Fleet(servers)
    for host in "web-1", "web-2", "db'; DROP TABLE x--", "back\\slash\t":
        for minute in range(0, 3 * 1440, 41):
            start = TODAY - 3 * DAY + minute * 60
            for unit, build, path, symbol in (("nginx.service", OTHER, "/usr/bin/nginx", "parse"),
                                              ("nginx.service", OTHER, "/usr/bin/nginx", "it's \\ a\nname"),
                                              ("cron.service", "", "[kernel]", "schedule"),
                                              ("", "", "", ""),
                                              ("cron.service", NEW if minute > 2000 else OLD, "/usr/bin/cron", "parse")):
                own = random.randrange(20)
                fleet.add(Row(host, start, unit, build, path, symbol, own, own + random.randrange(5)))
    fleet.send()
    return fleet


def got(answer, *names):
    return {tuple(row[name] or "" for name in names): (row["self"], row["total"]) for row in answer["rows"]}


def nonzero(sums):
    return {key: value for key, value in sums.items() if value != (0, 0)}


def check_top(servers, fleet):
    base = TODAY - 3 * DAY
    for start, end in ((base, base + DAY), (base, base + 3 * DAY), (base + 3600, base + 7200), (base + 82 * 60, base + 83 * 60),
                       (base + 22 * 3600 + 60, base + 2 * DAY + 3 * 3600 + 180), (base + 41 * 60, base + 3 * 3600)):
        for server in servers:
            answer = ask_json(server, "top", span(start, end))
            check_schema("top", answer)
            want = nonzero(fleet.sums(start, end, ("object", "symbol")))
            check(got(answer, "object", "symbol") == want, "functions", start - base, end - base, got(answer, "object", "symbol"), want)
            samples = sum(value[0] for value in want.values())
            check(answer["totals"]["samples"] == samples, "samples", answer["totals"]["samples"], samples)
    start, end = base + 22 * 3600 + 60, base + 2 * DAY + 3 * 3600 + 180
    server = servers[0]
    for by in "unit", "host":
        answer = ask_json(server, "top", span(start, end), "--by", by)
        check_schema("top", answer)
        want = nonzero(fleet.sums(start, end, (by,)))
        check({key: row[0] for key, row in got(answer, by).items()} == {key: row[0] for key, row in want.items()}, by, answer, want)
    windows = sum(1 for row in fleet.rows if start <= row.start < end and row.unit == "")
    check(sum(1 for _ in answer["hosts"]) == 4 and answer["totals"]["lost"] == windows, answer["hosts"], answer["totals"])
    filters = ((["--host", "web-*"], lambda row: row.host.startswith("web-")),
               (["--host", "db'; DROP TABLE x--,web-2"], lambda row: row.host.startswith("db") or row.host == "web-2"),
               (["--host", "back\\slash\t"], lambda row: row.host.startswith("back")),
               (["--unit", "nginx"], lambda row: row.unit == "nginx.service"),
               (["--object", "cron"], lambda row: row.object == "/usr/bin/cron"),
               (["--symbol", "parse"], lambda row: row.symbol == "parse"),
               (["--symbol", "it's*", "--object", "nginx"], lambda row: row.symbol.startswith("it")))
    for arguments, wanted in filters:
        answer = ask_json(server, "top", span(start, end), *arguments)
        check_schema("top", answer)
        want = nonzero(fleet.sums(start, end, ("object", "symbol"), wanted))
        check(got(answer, "object", "symbol") == want, arguments, answer["rows"], want)
    answer = ask_json(server, "top", span(start, end), "--unit", "nginx")
    check(abs(sum(row["self_percent"] for row in answer["rows"]) - 100) < 0.001, "100 % is the unit", answer["rows"])
    answer = ask_json(server, "top", span(base, base + DAY), "--symbol", "schedule")
    check(answer["rows"][0]["self_percent"] < 50 and answer["rows"][0]["address"] is None, "of all samples", answer["rows"])
    names = {row["symbol"]: row["build_id"] for row in ask_json(server, "top", span(base, base + DAY))["rows"] if row["object"] == "/usr/bin/nginx"}
    check(set(names.values()) == {OTHER}, "a single build is named", names)
    status, out, err = ask(server, "top", span(start, end), "--by", "host")
    check(status == 0 and "4 hosts" in out and "HOST" in out and "web-1" in out and not err, out, err)


def check_builds(servers, fleet):
    """--build-id keeps the minutes, hours and days of hosts in which the build ran, and in diff none of the other."""
    base = TODAY - 3 * DAY
    hour = (base + 2009 * 60) // 3600 * 3600  # the first of the new build
    start, end = base + DAY + 60, base + 3 * DAY - 60  # without whole days: by the hour
    answer = ask_json(servers[0], "top", span(start, end), "--build-id", NEW[:8])
    check_schema("top", answer)
    want = nonzero(fleet.sums(hour, end, ("object", "symbol")))
    check(got(answer, "object", "symbol") == want, "while a build ran", answer["rows"], want)
    for spans, old, new in (((start, end), (start, hour), (hour, end)),
                            ((base, base + 3 * DAY), (base, base + DAY), (base + 2 * DAY, base + 3 * DAY))):  # both ran on a day
        diff = ask_json(servers[0], "diff", "--build-id", OLD, "--build-id", NEW, span(*spans))
        check_schema("diff", diff)
        for side, where in (("old", old), ("new", new)):
            got_side = {(row[side]["object"] or "", row[side]["symbol"] or ""): (row[side]["self"], row[side]["total"])
                        for row in diff["functions"] if row[side]}
            want = fleet.sums(*where, ("object", "symbol"))
            check(got_side == want, side, got_side, want)
    status, out, err = ask(servers[0], "diff", "--build-id", OLD, "--build-id", NEW, span(start, end))
    check(status == 0 and not err and f"build {OLD}" in out and "4 hosts" in out, out, err)


def make_change(servers, n, dearer, seed):
    """2 x @n hosts that differ in speed and load by some percent each, half of them on one day and half on the next; on the new
    ones work() takes @dearer times as long."""
    random.seed(seed)
    fleet = Fleet(servers)
    functions = [("/usr/bin/app", f"function_{i}", 40 * 0.9 ** i) for i in range(30)] + [("/usr/bin/app", "work", 25)]
    for number in range(2 * n):
        host, is_new = f"{'new' if number >= n else 'old'}-{number:03}", number >= n
        weights = [(path, name, weight * random.gauss(1, 0.03) * (dearer if is_new and name == "work" else 1))
                   for path, name, weight in functions]
        whole, samples = sum(weight for _, _, weight in weights), 400000 * random.gauss(1, 0.1)
        for hour in range(3):
            for path, name, weight in weights:
                mean = samples / 3 * weight / whole
                fleet.add(Row(host, TODAY - (4 + number % 2) * DAY + hour * 3600, "app.service", NEW if is_new else OLD, path, name,
                              max(0, int(random.gauss(mean, mean ** 0.5))), int(mean * 1.5)))
    fleet.send()
    return fleet


def check_change(servers, n=100, dearer=1.03):
    make_change(servers, n, dearer, 11)
    where = span(TODAY - 5 * DAY, TODAY - 3 * DAY)
    diff = ask_json(servers[1], "diff", "--build-id", OLD, "--build-id", NEW, where)
    check_schema("diff", diff)
    row = diff["functions"][0]
    old = sum(40 * 0.9 ** i for i in range(30))
    truth = 100 * (25 * dearer / (old + 25 * dearer) - 25 / (old + 25))
    check(row["new"]["symbol"] == "work" and row["significant"] and row["interval"][0] <= truth <= row["interval"][1], row, truth)
    print(f"planned: {truth:+.3f} points; named first: {row['new']['symbol']}, {row['delta_percent']:+.3f} ({row['interval'][0]:+.3f} to "
          f"{row['interval'][1]:+.3f}); significant: {[r['new']['symbol'] for r in diff['functions'] if r['significant']]}")
    halves = ask_json(servers[1], "diff", span(TODAY - 5 * DAY, TODAY - 4 * DAY), span(TODAY - 4 * DAY, TODAY - 3 * DAY), "--host", "old-*")
    check(halves["functions"] and not any(row["significant"] for row in halves["functions"]), "two halves of the old",
          [row for row in halves["functions"] if row["significant"]])


def check_history(servers, fleet):
    base = TODAY - 3 * DAY
    answer = ask_json(servers[0], "history", "parse", span(base, base + DAY), "-n", "24")
    check_schema("history", answer)
    check(len(answer["points"]) == 24, len(answer["points"]))
    for i, point in enumerate(answer["points"]):
        start = base + i * 3600
        want = fleet.sums(start, start + 3600, ("symbol",), lambda row: row.symbol == "parse").get(("parse",), (0, 0))
        all_of = sum(value[0] for value in fleet.sums(start, start + 3600, ()).values())
        check((point["start"], point["self"], point["samples"]) == (start, want[0], all_of), point, want, all_of)
    answer = ask_json(servers[0], "history", span(base, base + 3600), "--unit", "cron", "--host", "web-1")
    want = fleet.sums(base, base + 3600, ("unit",), lambda row: row.host == "web-1")
    check((answer["sum"]["self"], answer["sum"]["samples"]) == (want["cron.service",][0], sum(value[0] for value in want.values())),
          answer["sum"], want)
    status, out, err = ask(servers[0], "history", "nothing_of_that_name", span(base, base + DAY))
    check(status == 1 and one_line(err) and "no function is named 'nothing_of_that_name' in" in err, status, out, err)


class Strange(http.server.BaseHTTPRequestHandler):
    """A server that answers something else."""

    def do_POST(self):
        query = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(200)
        self.end_headers()
        try:
            for part in self.server.answer(query):
                self.wfile.write(part)
        except OSError:
            pass

    def log_message(self, format, *arguments):
        pass


def check_build_ids(server):
    """What is none ends no client, however long it is and whatever follows it."""
    for build, next_key in (("A", "41" * 20000), ("A", "41" * 19 + "d0" + "42" * 60), ("ab 1a", "2"), ("41" * 21, "2"), ("abc", "2"),
                            (OLD, "2")):
        def answer(query, build=build, next_key=next_key):
            if query.startswith("EXISTS"):
                return [b"0\n"]
            if query.startswith("SELECT host"):
                return [b"h\t1\t10\t0\t1000000\t1\t2\tcycles\tcycles\tdefault\tdefault\n"]
            if "least" in query:
                return [f"1\t/bin/x\tf\t{build}\n{next_key}\t/bin/x\tg\t\n".encode()]
            return [b"\t1\t10\t10\n"]
        server.answer = answer
        status, out, err = ask(server, "top", "--json")
        check(status == 0 and json.loads(out)["rows"] is not None or status == 1 and one_line(err), build, status, out, err)


def check_strange():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Strange)
    server.daemon_threads = True
    server.http = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def endless(_):
        while True:
            yield b"1\n" * 500000
    for answer, want in ((lambda _: [b"<html>hello\n"], "is that ClickHouse"), (lambda _: [b""], "is that ClickHouse"),
                         (lambda _: [b"1\n"], "is that ClickHouse"), (endless, "MiB: ask for a shorter span"),
                         (lambda _: [b"1"], "is that ClickHouse"), (lambda _: [b"\x1b]0;title\x07\n"], "is that ClickHouse")):
        server.answer = answer
        for command in (["top"], ["diff", "-2h..-1h", "-1h"], ["history", "main"]):
            status, out, err = ask(server, *command)
            check(status == 1 and not out and one_line(err) and want in err and "\x1b" not in err, command, status, out, err)
    check_build_ids(server)
    server.shutdown()


def check_usage(server):
    url = f"http://127.0.0.1:{server.http}/"
    for arguments, want in ((["top", "42"], "'42' is a window of one daemon"), (["top", "@-1"], "'@-1' is a window of one daemon"),
                            (["top", "x.data"], "for a recording"), (["top", "--by", "line"], "function, unit or host"),
                            (["diff", "-2h", "-1h", "--by", "host"], "function or unit"), (["top", "--pid", "1"], "takes no --pid"),
                            (["top", "-H", "a"], "takes no -H"), (["top", "--build-id", "xyz"], "--build-id 'xyz'"),
                            (["top", "--build-id", "' OR 1"], "--build-id"), (["top", "--build-id", OLD, "--build-id", NEW], "twice is for diff"),
                            (["diff", "-1h"], "two WINDOWs"), (["top", "--host", ""], "the name of a host"),
                            (["top", "--by", "unit", "--symbol", "a"], "only with --by function")):
        status, out, err = run("--cluster", url, *arguments)
        check(status in (1, 2) and not out and one_line(err) and want in err, arguments, status, out, err)
    for arguments, want in ((["top", "--host", "a"], "--host works only with --cluster"), (["top", "--by", "host"], "only with --cluster"),
                            (["top", "--cluster", "ftp://x/"], "--cluster 'ftp://x/'"), (["top", "--cluster", "http://"], "--cluster 'http://'"),
                            (["top", "--cluster", "http://me:secret@x/"], "~/.netrc"), (["windows", "--cluster", url], "windows takes no --cluster")):
        status, out, err = run(*arguments)
        check(status == 2 and not out and one_line(err) and want in err and "secret" not in err, arguments, status, out, err)
    status, out, err = run("top", "--cluster", f"http://127.0.0.1:{clickhouse.free_port()}/")
    check(status == 1 and not out and one_line(err) and "onnect" in err, status, out, err)
    for arguments, want in ((["--host", "nobody"], "no host is 'nobody'; in that time there are"), (["--unit", "nothing"], "no unit is")):
        status, out, err = ask(server, "top", span(TODAY - 3 * DAY, TODAY), *arguments)
        check(status == 1 and not out and one_line(err) and want in err, arguments, status, out, err)
    status, out, err = ask(server, "top", "2001-01-01")
    check(status == 1 and not out and one_line(err) and "no host has sent windows" in err, status, out, err)


clickhouse.skip_without()
SCHEMAS = load_schemas()
with tempfile.TemporaryDirectory() as place:
    shards = [clickhouse.Server(place, "shard1"), clickhouse.Server(place, "shard2")]
    for shard in shards:
        shard.configure(shards)
        shard.start()
    try:
        status, out, err = ask(shards[0], "top")
        check(status == 1 and one_line(err) and "branchd" in err, "without tables", status, out, err)
        for shard in shards:
            shard.run_file(SCHEMA)
            shard.run_file(CLUSTER)
        small = make_small(shards)
        check_top(shards, small)
        check_builds(shards, small)
        check_history(shards, small)
        check_change(shards)
        check_usage(shards[0])
        check_strange()
    finally:
        for shard in shards:
            shard.kill()
finish()
