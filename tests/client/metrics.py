# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl metrics: the values, their bound, and what the two formats ask for."""

import json
import os
import re
import socket
import tempfile

import mock_daemon
from harness import check, finish, one_line, run

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.e+-]+)$')


def parse(text, openmetrics):
    """{(name, labels): value}; each family stands in one place below its head, and has each series once."""
    series, family, kind, done = {}, None, None, set()
    lines = text.split("\n")
    check(lines.pop() == "" and (not openmetrics or lines.pop() == "# EOF"), "the end", text[-40:])
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            check(family not in done and kind in ("counter", "gauge"), line)
            done.add(family)
        elif line.startswith("# UNIT "):
            check(openmetrics and line.split(" ")[2] == family and family.endswith("_" + line.split(" ")[3]), line)
        elif line.startswith("# HELP "):
            check(line.split(" ")[2] == family and len(line.split(" ")) > 4, line)
        else:
            match = SAMPLE.fullmatch(line)
            if check(match, "no sample:", line):
                name, labels, value = match.groups()
                want = family + "_total" if openmetrics and kind == "counter" else family
                check(name == want and name.endswith("_total") == (kind == "counter"), line, "below", family)
                check((name, labels) not in series, "twice:", line)
                series[name, labels] = float(value)
    return series


def read(*arguments, status=0, **environment):
    got, out, err = run("--socket", daemon.path, "metrics", *arguments, **environment)
    check(got == status and (status or not err), arguments, got, err)
    return out


def check_values():
    """Those of the daemon's status, in both formats; and the shares of its functions."""
    series = parse(read(), True)
    older = parse(read("--format", "prometheus"), False)
    check(series.keys() == older.keys(), series.keys() ^ older.keys())
    for name, value in (("branchd_samples_total", 1010), ("branchd_samples_written_total", 1000),
                        ("branchd_bpf_seconds_total", 0.0015), ("branchd_cpu_seconds_total", 36),
                        ("branchd_store_bytes", 3 << 20), ("branchd_sampling", 1), ("branchd_up", 1), ("branchd_problems", 1)):
        check(series.get((name, None)) == value, name, series.get((name, None)))
    lost = {labels: n for (name, labels), n in series.items() if name == "branchd_samples_lost_total"}
    check(lost == {'cause="ring_full"': 10, 'cause="undecodable"': 0, 'cause="skipped"': 3}, "lost", lost)
    check(0 <= series["branchd_store_lag_seconds", None] < 60, "lag", series["branchd_store_lag_seconds", None])
    shares = {labels: n for (name, labels), n in series.items() if name == "branchd_function_share_ratio"}
    _, out, _ = run("--socket", daemon.path, "top", "--json")
    for row in json.loads(out)["rows"]:
        labels = f'object="{row["object"]}",function="{row["symbol"]}"'
        if row["self"]:
            check(abs(shares.pop(labels, 0) - row["self_percent"] / 100) < 1e-6, labels, row)
    check(not shares, "more functions", shares)


def check_bounded():
    """A thousand functions, with names that are no names: as many series as asked for, and valid ones."""
    def many(samples):
        profile = usual(samples)
        profile["functions"] = [{"object": 0, "start": hex(4096 + 16 * i), "size": 16, "fingerprint": None, "name": name}
                                for i, name in enumerate(names)]
        profile["stacks"]["rows"] = [[None, 0, 0, hex(4096 + 16 * i), 5, 0, 5, 0] for i in range(len(names))]
        profile["counters"].update(samples=5 * len(names), weight=5 * len(names))
        profile["processes"][0]["samples"] = 5 * len(names)
        profile["processes"][1]["samples"] = 0
        return profile

    names = [f"function {i}" for i in range(1000)] + ["same", "same", 'quo"te', "back\\slash", "line\nfeed", "caf\u00e9" * 500]
    usual, mock_daemon.profile = mock_daemon.profile, many
    for arguments, want in ([], 10), (["-n", "1000"], 1000), (["-n", "1"], 1):
        series = parse(read(*arguments), True)
        got = sum(name == "branchd_function_share_ratio" for name, _ in series)
        check(got == want, arguments, got)
    names = names[1000:]
    series = parse(read("-n", "1000"), True)
    shares = sorted(n for (name, _), n in series.items() if name == "branchd_function_share_ratio")
    check(len(shares) == 5 and abs(shares[-1] - 2 / 6) < 1e-6, "those of one name are one", shares)
    mock_daemon.profile = usual


def check_processes():
    """Ten thousand processes of as many names, each in another function, come and go, twice: no series is of a process."""
    def crowd(samples):
        profile = usual(samples)
        profile["processes"] = [dict(profile["processes"][0], pid=first + i, comm=f"crowd{first + i}", samples=5) for i in range(n)]
        profile["functions"] = [{"object": 0, "start": hex(4096 + 16 * i), "size": 16, "fingerprint": None, "name": f"in_{first + i}"}
                                for i in range(n)]
        profile["stacks"]["rows"] = [[None, i, 0, hex(4096 + 16 * i), 5, 0, 5, 0] for i in range(n)]
        profile["counters"].update(samples=5 * n, weight=5 * n)
        return profile

    n, first = 10000, 1000
    before = parse(read(), True)
    usual, mock_daemon.profile = mock_daemon.profile, crowd
    for first in 1000, 20000:
        series = parse(read(), True)
        fixed = {name for name in series if name[0] != "branchd_function_share_ratio"}
        check(fixed == {name for name in before if name[0] != "branchd_function_share_ratio"}, "series of processes", fixed ^ before.keys())
        check(len(series) - len(fixed) == 10 and not any("crowd" in str(labels) for _, labels in series), "series", len(series))
    mock_daemon.profile = usual


def check_file():
    """The file is replaced whole; it says if the daemon is gone."""
    path = os.path.join(place, "branchd.prom")
    read("--format", "prometheus", "-o", path)
    with open(path, encoding="utf-8") as file:
        check(parse(file.read(), False)["branchd_up", None] == 1, "the file")
    check(os.listdir(place) == ["branchd.prom"], os.listdir(place))
    status, out, err = run("--socket", place + "/none", "metrics", "--format", "prometheus", "-o", path)
    check(status == 1 and not out and one_line(err) and "systemctl start branchd" in err, status, out, err)
    with open(path, encoding="utf-8") as file:
        check(parse(file.read(), False) == {("branchd_up", None): 0}, "the file without a daemon")
    for arguments in ["-n", "0"], ["-n", "1001"], ["--format", "xml"], ["--json"], ["@-1"]:
        status, out, err = run("metrics", *arguments)
        check(status == 2 and not out and one_line(err), arguments, status, out, err)


def check_hung():
    """A daemon that takes the call and never answers."""
    path = os.path.join(place, "hung.prom")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place + "/hung")
        listener.listen()
        status, out, err = run("--socket", place + "/hung", "metrics", "--format", "prometheus", "-o", path)
    check(status == 1 and not out and one_line(err) and "no answer from the daemon in 10 s" in err, status, out, err)
    with open(path, encoding="utf-8") as file:
        check(parse(file.read(), False) == {("branchd_up", None): 0}, "the file with a daemon that hangs")


with tempfile.TemporaryDirectory() as place, mock_daemon.Daemon(mock_daemon.recent()) as daemon:
    check_values()
    check_bounded()
    check_processes()
    check_file()
    check_hung()
finish()
