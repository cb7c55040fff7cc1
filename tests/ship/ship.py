# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd-ship and two real ClickHouse servers: each window counts once, whatever fails meanwhile.

    ship.py BRANCHCTL BRANCHD-SHIP SCHEMA CLUSTER SERVE-WINDOWS"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import clickhouse
import mock_daemon
from harness import check, finish, run
from loopback import make_certificate
from ship_host import SHIP, Host, wait_for

SCHEMA, CLUSTER, SERVE = [os.path.abspath(word) for word in sys.argv[3:6]]


def with_streams(samples):
    """A path of two branches, from work() to main() and within work()."""
    profile = plain(samples)
    profile["streams"]["rows"] = [[None, 0, 0, "0x1120", 0, "0x1010", 0, 0, 9], [0, 0, 0, "0x1130", 0, "0x1108", samples, 0, 5]]
    return profile


def check_counts(server, host, what):
    """The tables, their sums, and the sums by minute, hour and day are those of the host's own windows."""
    where = f"WHERE host = '{host.quoted}'"
    want = [(w["start_us"], w["id"], w["samples"], w["lost"]) for w in host.batched()]
    got = server.rows(f"SELECT window, id, samples, lost FROM branchd.windows {where} ORDER BY window")
    check(got == want, what, "windows", got, want)
    for table in "functions", "functions_minute", "functions_hour", "functions_day":
        got = server.rows(f"SELECT symbol, sum(self) FROM branchd.{table} {where} GROUP BY symbol HAVING sum(self) > 0 "
                          "ORDER BY symbol")
        check(sorted(got) == host.functions(), what, table, got, host.functions())
    got = server.rows(f"SELECT sum(samples), sum(weight) FROM branchd.stacks {where}")
    total = sum(w["samples"] for w in host.batched())
    check(got == [(total, total)], what, "stacks", got, total)
    got = server.rows(f"SELECT sum(hits), any(from_offsets), any(to_offsets) FROM branchd.streams {where}")
    check(got == [(total, "[48,32]", "[8,16]")], what, "streams", got, total)
    got = server.rows("SELECT DISTINCT symbol FROM branchd.stacks ARRAY JOIN ids AS id ANY INNER JOIN "
                      "(SELECT id, symbol FROM branchd.names) USING id " + where + " ORDER BY symbol")
    check([row[0] for row in got] == ["idle_\u017eofie", "main", "work"], what, "names", got)


def wait_for_all(server, host):
    n = len(host.batched())
    wait_for(f"{n} windows of {host.name}", lambda: server.rows(
        f"SELECT uniqExact(window) FROM branchd.windows_rows WHERE host = '{host.quoted}'") == [(n,)])
    wait_for("an empty spool", lambda: host.status().get("waiting_batches") == 0)


def check_shards(servers, hosts):
    for host, server in zip(hosts, servers):
        host.start()
        host.close_windows(9)
        wait_for_all(server, host)
        check_counts(server, host, "first")
        status = host.status()
        check(status["sent_windows"] == 9 and status["dropped_windows"] == 0 and status["last_failure"] is None, status)
    for server in servers:
        got = server.rows("SELECT host, count(), sum(samples) FROM branchd.all_windows FINAL GROUP BY host ORDER BY host")
        check(got == [(h.name, 9, 900) for h in hosts], "both shards", got)
        got = server.rows("SELECT sum(self) FROM branchd.all_functions_day")
        check(got == [(sum(n for h in hosts for _, n in h.functions()),)], "both shards by day", got)


def check_killed_server(server, host):
    """The server is killed while windows close; the batches wait on disk, and come when it is back."""
    server.kill()
    host.close_windows(9, 200)
    wait_for("batches that wait", lambda: host.status().get("waiting_batches") == 3)
    status = host.status()
    check(status["last_failure"] and status["failures"] >= 1, status)
    check(len([name for name in os.listdir(host.spool) if name.endswith(".batch")]) == 3, os.listdir(host.spool))
    host.stop(signal.SIGKILL)
    host.start()
    server.start()
    wait_for_all(server, host)
    check_counts(server, host, "after the server was killed, and branchd-ship")


def check_lost_state(server, host):
    """branchd-ship dies before the state is written; the state may even be of another database. No window counts twice."""
    for number in None, 10 ** 6:
        host.stop()
        with open(host.spool + "/state", encoding="utf-8") as file:
            state = file.read()
        host.daemon.followers.clear()
        server.kill()
        host.start()
        host.close_windows(6, 250)
        wait_for("batches that wait", lambda: host.status().get("waiting_batches") == 2)
        host.stop(signal.SIGKILL)
        with open(host.spool + "/state", "w", encoding="utf-8") as file:
            file.write(state if number is None else f"{number} {state.split(' ', 1)[1]}")
        host.daemon.calls.clear()
        host.start()
        wait_for("a follower", lambda: any(call.get("more") for call in host.daemon.calls))
        if number:  # they are asked for again
            wait_for("profiles", lambda: sum(call["method"].endswith("GetProfile") for call in host.daemon.calls) == 6)
            wait_for("the state", lambda: open(host.spool + "/state", encoding="utf-8").read().startswith(f"{host.next - 1} "))
        server.start()
        wait_for_all(server, host)
        check_counts(server, host, "after a lost state")
        check(number or not any(call["method"].endswith("GetProfile") for call in host.daemon.calls), "asked again")
        check(host.status()["dropped_windows"] == 0, host.status())
        host.daemon.followers.clear()


def check_lost_answers(server, host, proxy):
    """Inserts that are done, but whose answer is lost, are not done again."""
    host.stop()
    host.configure(proxy.port)
    host.start()
    proxy.lose = 4
    host.daemon.followers.clear()
    host.close_windows(6, 300)
    wait_for_all(server, host)
    check(proxy.lost == 4, "lost", proxy.lost)
    check_counts(server, host, "after answers were lost")
    raw = server.rows(f"SELECT count() FROM branchd.functions_rows WHERE host = '{host.quoted}'")
    once = server.rows(f"SELECT count() FROM branchd.functions WHERE host = '{host.quoted}'")
    check(raw == once, "rows that came twice", raw, once)
    # and if branchd-ship dies before it knows
    proxy.lose = 1000
    host.close_windows(3, 400)
    wait_for("a lost answer", lambda: proxy.lose < 1000)
    host.stop(signal.SIGKILL)
    proxy.lose = 0
    host.start()
    wait_for_all(server, host)
    check_counts(server, host, "after answers were lost and branchd-ship was killed")


def check_bad_window(folder, server):
    """Of a sum with a window that cannot be answered the others are sent, one by one; that one is dropped, and named once."""
    host = Host(folder, "bad", server.http, "SumSec=30")
    answer = host.daemon._profile

    def fail(parameters):
        if parameters["first"] <= 105 <= parameters["last"]:
            return {"error": "io.branchd.TooLarge", "parameters": {"max_bytes": 1}}
        return answer(parameters)

    host.daemon._profile = fail
    for _ in range(9):
        host.daemon.closed(mock_daemon.window(host.next, host.start_us))
        host.next += 1
        host.start_us += mock_daemon.LENGTH
    host.start()
    query = "SELECT id, last_id FROM branchd.windows WHERE host = 'bad' ORDER BY id"
    wait_for("sums", lambda: server.rows(query) == [(101, 103), (104, 104), (106, 106), (107, 109)])
    wait_for("a dropped window", lambda: host.status().get("dropped_windows") == 1)
    err = host.stop()
    check(err.count("\n") == 1 and "window 105 is dropped: the profile is larger than" in err, err)
    host.daemon.close()


def check_other_answers(server, host, proxy):
    """Text in answer to an insert is a failure, though its head says 200; what is cut of it is still UTF-8."""
    del host.daemon.followers[:-1]  # of what was killed
    proxy.says = "<html>".encode() + "\u017e".encode() * 400
    host.close_windows(3, 450)
    wait_for("a failure", lambda: "answered 200: <html>\u017e" in (host.status().get("last_failure") or ""))
    proxy.says = b""
    wait_for_all(server, host)
    check_counts(server, host, "after answers of another program")


def check_twice(server, host):
    """A second copy of rows, which only another program could send, does not count in the views that read each row once."""
    server.ask(f"INSERT INTO branchd.stacks_rows SELECT * FROM branchd.stacks_rows WHERE host = '{host.quoted}'")
    server.ask(f"INSERT INTO branchd.windows_rows SELECT * FROM branchd.windows_rows WHERE host = '{host.quoted}'")
    check_counts(server, host, "after copies")


def check_restarted_daemon(server, host):
    """A daemon that begins a new database counts from 1; windows that were merged are no new ones."""
    host.daemon.begin_database()
    host.next = 1
    host.close_windows(3)
    wait_for_all(server, host)
    check_counts(server, host, "after a new database")


def check_untrusted(folder, server):
    """A file of root and one of somebody else with the same build-id: both keep the names of their functions."""
    def two_objects(samples):
        profile = plain(samples)
        profile["objects"].append(dict(profile["objects"][0], path="/home/user/demo", major=8, minor=1, inode=77, untrusted=True,
                                       ctime_ns=123456789))
        profile["functions"] += [dict(row, object=1, name="false_" + row["name"]) for row in profile["functions"]]
        profile["stacks"]["rows"].append([None, 0, 1, "0x1110", 5, 0, 5, 0])
        profile["counters"].update(samples=samples + 5, weight=samples + 5)
        profile["processes"][0]["samples"] += 5
        return profile

    usual, mock_daemon.profile = mock_daemon.profile, two_objects
    hosts = [Host(folder, name, server.http) for name in ("untrusted1", "untrusted2")]
    for host in hosts:
        host.start()
        host.close_windows(3)
        wait_for_all(server, host)
        host.stop()
        host.daemon.close()
    mock_daemon.profile = usual
    got = server.rows("SELECT uniqExact(id), countIf(object = '/home/user/demo') FROM branchd.names FINAL WHERE symbol = 'false_work'")
    check(got == [(2, 2)], "an id for each host", got)
    for host in hosts:
        got = server.rows("SELECT symbol, count() FROM branchd.stacks ARRAY JOIN ids AS id ANY INNER JOIN "
                          f"(SELECT id, symbol FROM branchd.names) USING id WHERE host = '{host.name}' GROUP BY symbol ORDER BY symbol")
        check(dict(got).keys() == {"false_work", "idle_\u017eofie", "main", "work"}, "names of two files", got)


def check_limits(folder, port):
    """Without a server the spool keeps what fits, and says what it dropped; following goes on."""
    host = Host(folder, "full", port, "MaxSpool=1M")
    many = mock_daemon.profile

    def large(samples):
        profile = many(samples)
        profile["functions"] = [{"object": 0, "start": hex(4096 + 16 * i), "size": 16, "fingerprint": None,
                                 "name": os.urandom(40).hex()} for i in range(3000)]  # nothing that compresses
        profile["stacks"]["rows"] = [[None, 0, 0, hex(4096 + 16 * i), 5, 0, 5, 0] for i in range(3000)]
        return profile

    mock_daemon.profile = large
    host.start()
    host.close_windows(12)
    wait_for("dropped windows", lambda: host.status().get("dropped_windows", 0) >= 3)
    wait_for("the last one", lambda: os.path.exists(host.spool + "/state") and
             open(host.spool + "/state", encoding="utf-8").read().startswith("112 "))
    size = sum(os.path.getsize(os.path.join(host.spool, name)) for name in os.listdir(host.spool))
    check(size < (1 << 20) + 4096, "the spool has", size)
    done = subprocess.run([SHIP, "--status", "--status-file", host.status_file], capture_output=True, text=True, check=False)
    check(done.returncode == 0 and "dropped: " in done.stdout and "failing: " in done.stdout, done.stdout, done.stderr)
    host.stop()
    mock_daemon.profile = many
    host.daemon.close()


def check_too_large(folder, port):
    """A batch that is larger than the spool may be is dropped by itself: those that wait stay."""
    def sized(samples):
        profile = plain(samples)
        profile["functions"][1]["name"] = os.urandom(samples * 150).hex()
        return profile

    usual, mock_daemon.profile = mock_daemon.profile, sized
    host = Host(folder, "large", port, "MaxSpool=1M")
    host.start()
    host.close_windows(3)
    wait_for("a batch", lambda: host.status().get("waiting_batches") == 1)
    host.close_windows(3, 4000)
    wait_for("dropped windows", lambda: host.status().get("dropped_windows") == 3)
    check(host.status()["waiting_batches"] == 1, host.status())
    check("windows are dropped" in host.stop(), "it says so")
    host.daemon.close()
    mock_daemon.profile = usual


def check_password(folder, proxy):
    """From a file, or from a credential of systemd; it is in no command line and no message."""
    path = os.path.join(folder, "ship.password")
    with open(path, "w", encoding="utf-8") as file:
        file.write("se'cret\n")
    for name, extra, environment in (("file", f"User=ship\nPasswordFile={path}", {}),
                                     ("credential", "User=ship", {"CREDENTIALS_DIRECTORY": folder})):
        host = Host(folder, name, proxy.port, extra)
        proxy.requests.clear()
        host.start(**environment)
        host.close_windows(3)
        wait_for("requests", lambda: len(proxy.requests) > 2)
        check(all(request[1:] == ("ship", "se'cret") for request in proxy.requests), proxy.requests)
        check("se'cret" not in host.stop(), "a message has the password")
        host.daemon.close()


def check_real_store(folder, server):
    """Windows with branch records, from the daemon's own store: all sums are those of branchctl dump."""
    path = os.path.join(folder, "real")
    os.makedirs(path + "/spool")
    with open(path + "/spool/state", "w", encoding="utf-8") as file:
        file.write("0 1 0 0\n")
    with open(path + "/ship.conf", "w", encoding="utf-8") as file:
        file.write(f"[Ship]\nUrl=http://127.0.0.1:{server.http}/\nHost=real\nBatchSec=15\nSumSec=20\n")
    with subprocess.Popen([SERVE, path + "/socket", path + "/database", "busy", "4"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as daemon:
        daemon.stdout.readline()
        _, out, _ = run("--socket", path + "/socket", "dump", "1..4", "--format", "json")
        dump = json.loads(out)
        with subprocess.Popen([SHIP, "--config", path + "/ship.conf", "--socket", path + "/socket", "--spool", path + "/spool",
                               "--status-file", path + "/status"]) as process:
            wait_for("4 windows", lambda: server.rows("SELECT sum(last_id - id + 1) FROM branchd.windows WHERE host = 'real'") == [(4,)])
            wait_for("windows, not sums", lambda: '"sent_windows": 4,' in open(path + "/status", encoding="utf-8").read())
            process.terminate()
        daemon.stdin.close()
    for table, columns in (("stacks", ["samples", "weight"]), ("branches", ["taken", "mispredicted", "predicted", "cycles"]),
                           ("blocks", ["runs", "cycles", "cycles_rows"]), ("streams", ["hits"])):
        rows = dump[table]["rows"]
        want = tuple(sum(int(row[dump[table]["columns"].index(column)]) for row in rows) for column in columns)
        got = server.rows(f"SELECT {', '.join(f'sum({c})' for c in columns)} FROM branchd.{table} WHERE host = 'real'")
        check(got == [want] and (sum(want) > 0 or table == "streams"), table, got, want)
    got = server.rows("SELECT id, last_id, length_us, samples FROM branchd.windows WHERE host = 'real' ORDER BY id")
    check([row[:3] for row in got] == [(1, 2, 20000000), (3, 4, 20000000)], "sums of windows", got)
    check(sum(row[3] for row in got) == dump["counters"]["samples"], "samples", got)
    want = {}
    for row in dump["stacks"]["rows"]:
        unit = dump["processes"][row[dump["stacks"]["columns"].index("process")]]["unit"] or ""
        want[unit] = want.get(unit, 0) + row[dump["stacks"]["columns"].index("samples")]
    got = server.rows("SELECT unit, sum(self) FROM branchd.functions WHERE host = 'real' GROUP BY unit HAVING sum(self) > 0")
    check(dict(got) == {unit: n for unit, n in want.items() if n}, "by unit", got, want)
    got = server.rows("SELECT count() FROM branchd.branches WHERE host = 'real' AND from_id NOT IN (SELECT id FROM branchd.names)")
    check(got == [(0,)], "branches without names", got)


def check_tls(folder, server):
    """https with a certificate of an authority of one's own; without CAFile= nothing is sent."""
    certificate, key = make_certificate(folder)
    proxy = clickhouse.Proxy(server, (certificate, key))
    host = Host(folder, "tls", proxy.port)
    for extra in "", f"CAFile={certificate}":
        host.configure(proxy.port, extra)
        with open(host.folder + "/ship.conf", encoding="utf-8") as file:
            text = file.read()
        with open(host.folder + "/ship.conf", "w", encoding="utf-8") as file:
            file.write(text.replace("http:", "https:"))
        host.start()
        if not extra:
            host.close_windows(3)
            wait_for("a failure", lambda: "certificate" in (host.status().get("last_failure") or ""))
            check(not proxy.requests, "sent without a known certificate", proxy.requests)
        else:
            wait_for_all(server, host)
            check_counts(server, host, "over TLS")
        host.stop()
        host.daemon.followers.clear()
    host.daemon.close()


def check_usage(folder):
    path = os.path.join(folder, "wrong.conf")
    for text, want in (("[Ship]\nUrl=ftp://x/", ":2: Url=ftp://x/ is invalid"), ("[Ship]\nUrls=x", ":2: unknown key"),
                       ("[Ships]\nUrl=x", "unknown section"), ("", "names no server"),
                       ("[Ship]\nUrl=http://x/\nMaxSpool=1", ":3: MaxSpool=1 is invalid"),
                       ("[Ship]\nUrl=http://x/\nDatabase=a;b", ":3: Database="),
                       ("[Ship]\nUrl=http://user:secret@x/", ":2: Url= has an '@': give User=, and PasswordFile="),
                       ("[Ship]\nUrl=http://x/\nPasswordFile=/nonexistent", "cannot read the password")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        done = subprocess.run([SHIP, "--config", path, "--spool", folder], capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 1 and done.stderr.count("\n") == 1 and want in done.stderr and "secret" not in done.stderr, text, done.returncode, done.stderr)
    for arguments in ["--zork"], ["word"], ["--json"]:
        done = subprocess.run([SHIP, *arguments], capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 2, arguments, done.returncode, done.stderr)


clickhouse.skip_without()
plain, mock_daemon.profile = mock_daemon.profile, with_streams
with tempfile.TemporaryDirectory() as place:
    shards = [clickhouse.Server(place, "shard1"), clickhouse.Server(place, "shard2")]
    for shard in shards:
        shard.configure(shards)
        shard.start()
        shard.run_file(SCHEMA)
        shard.run_file(CLUSTER)
    try:
        machines = [Host(place, "a'one", shards[0].http), Host(place, "two", shards[1].http)]
        check_shards(shards, machines)
        check_killed_server(shards[0], machines[0])
        check_lost_state(shards[0], machines[0])
        answers = clickhouse.Proxy(shards[1])
        check_lost_answers(shards[1], machines[1], answers)
        check_other_answers(shards[1], machines[1], answers)
        check_twice(shards[1], machines[1])
        check_restarted_daemon(shards[1], machines[1])
        for machine in machines:
            said = machine.stop()
            machine.daemon.close()
        check(said.count("the daemon answers again\n") == 1 and said.count("the server takes batches again\n") == 1, said)
        check_bad_window(place, shards[0])
        check_untrusted(place, shards[0])
        check_limits(place, clickhouse.free_port())
        check_too_large(place, clickhouse.free_port())
        check_password(place, answers)
        check_real_store(place, shards[0])
        if shutil.which("openssl"):
            check_tls(place, shards[0])
        check_usage(place)
    finally:
        for shard in shards:
            shard.kill()
finish()
