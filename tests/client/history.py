# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl history: the points equal what branchctl top says of the same windows."""

import json
import os
import re
import subprocess
import sys
import tempfile

import mock_daemon
from harness import check, finish, one_line, run
from terminal_session import run_on_terminal

WINDOWS = 16
CHANGING = 120


def asked(path, *arguments):
    status, out, err = run("--socket", path, *arguments, "--json")
    check(status == 0, arguments, status, err)
    return json.loads(out)


def counted(path, window, symbol, *filters):
    """Samples of all, in the function, and with it in their stack, by top."""
    top = asked(path, "top", str(window), "-n", "0", *filters)
    rows = [row for row in top["rows"] if row["symbol"] == symbol]
    return top["totals"]["samples"], sum(row["self"] for row in rows), sum(row["total"] for row in rows)


def check_function(path):
    symbol = asked(path, "top", "1")["rows"][0]["symbol"]
    for filters in [], ["--pid", "1002"]:
        shown = asked(path, "history", symbol, "..", "-n", str(WINDOWS), *filters)
        check(len(shown["points"]) == WINDOWS and shown["symbol"] == symbol, shown)
        for i, point in enumerate(shown["points"]):
            got = point["samples"], point["self"], point["total"]
            check(got == counted(path, i + 1, symbol, *filters), symbol, i, got)
        check(shown["sum"]["self"] == sum(point["self"] for point in shown["points"]), shown["sum"])
        few = asked(path, "history", symbol, "..", "-n", "3", *filters)
        check(few["sum"]["self"] == shown["sum"]["self"] and len(few["points"]) == 3, few)
        check(sum(point["windows"] for point in few["points"]) == WINDOWS, few)


def check_short_window():
    """A short window, as of a daemon that was just started, leaves no point without samples."""
    windows = mock_daemon.recent(6)
    windows[0]["start_us"] += 7 * mock_daemon.SECOND
    windows[0]["length_us"] -= 7 * mock_daemon.SECOND
    with mock_daemon.Daemon(windows, counts=True) as daemon:
        points = asked(daemon.path, "history", "work", "..")["points"]
        check(len(points) == 5 and sum(point["windows"] for point in points) == 6, points)
        check(all(point["samples"] for point in points), "a point is empty", points)


def check_bars(path):
    """On a narrow terminal bars are shorter, and keep their proportions."""
    symbol = asked(path, "top", "1")["rows"][0]["symbol"]
    for columns in 40, 80:
        text, status = run_on_terminal("--socket", path, "history", symbol, "..", "--no-pager", columns=columns)
        points = [point["self"] / point["samples"] for point in asked(path, "history", symbol, "..")["points"]]
        bars = [line.count("\u2588") for line in text.splitlines() if re.match(r"\d\d:\d\d", line)]
        check(status == 0 and len(bars) == len(points) and all(len(line) <= columns for line in text.splitlines()), text)
        check(all(abs(bar - max(bars) * point / max(points)) <= 0.6 for bar, point in zip(bars, points)), columns, bars, points)
        check(max(bars) >= 6, columns, bars)


def check_processes(path):
    shown = asked(path, "history", "--unit", "some-service-1.service", "..", "-n", "4")
    everything = asked(path, "top", "..")["totals"]["samples"]
    unit = asked(path, "top", "..", "--unit", "some-service-1.service")["totals"]["samples"]
    check((shown["sum"]["samples"], shown["sum"]["self"]) == (everything, unit), shown["sum"], everything, unit)
    check(shown["sum"]["total"] is None, "a unit has no callees")


def check_text(path):
    symbol = asked(path, "top", "1")["rows"][0]["symbol"]
    status, out, err = run("--socket", path, "history", symbol, "..", "-n", "4")
    check(status == 0 and not err and out.startswith(symbol + ": "), status, out, err)
    check("START" in out and "SELF" in out and "TOTAL" in out, out)
    for words in (["nobody-has-this-name"], ["--unit", "nobody.service"], [symbol, "99"]):
        status, out, err = run("--socket", path, "history", *words, *([] if "99" in words else [".."]))
        check(status == 1 and not out and one_line(err), words, status, out, err)


def check_similar(path):
    """Hot functions are named function_N: to ask for "unction_1" is to miss them."""
    status, out, err = run("--socket", path, "history", "unction_1", "..")
    check(status == 1 and not out and one_line(err), status, out, err)
    check("no function is named unction_1; history '*unction_1*' counts" in err and "function_1 (" in err, err)
    check(asked(path, "history", "*unction_1*", "..")["sum"]["self"] > 0, "the pattern of the hint")


def check_change(path):
    """Function 0 takes 10 % of the samples, and 13 % from window 91 on."""
    found = asked(path, "diff", "..", "--find-change")
    check(len(found["windows"]) == CHANGING and found["samples"] == CHANGING * 6000, found["samples"])
    names = [(row["symbol"], row["object"]) for row in found["changes"]]
    check(len(set(names)) == len(names), "a function has two rows:", names)
    check(not found["within_noise"], found["within_noise"])
    row = found["changes"][0]
    check(row["symbol"] == "function_0" and 89 <= row["window"] <= 93, row)
    check(row["interval"][0] < 3 < row["interval"][1] and row["object"] == "/usr/bin/steady", row)
    status, out, err = run("--socket", path, "diff", "..", "--find-change", "-n", "1")
    check(status == 0 and not err and "the largest change is in window" in out and "function_0" in out, out, err)
    check(re.search(r"branchctl diff \d+\.\.\d+ \d+\.\.\d+ shows all of it\n", out), "no hint:", out)
    out = run("--socket", path, "diff", "..", "--find-change", "-n", "1", "--comm", "*")[1]
    check(re.search(r"branchctl diff \d+\.\.\d+ \d+\.\.\d+, with the same filters, shows all of it\n", out), "the hint:", out)
    changes = [asked(path, "history", "function_0", "..", "-n", str(n))["change"] for n in (2, 7, 24, CHANGING)]
    check(all(2 < change["delta_percent"] < 4 for change in changes), changes)
    check(max(each["time"] for each in changes) - min(each["time"] for each in changes) <= 20, changes)


def check_crowded(path):
    """Thousands of functions with three samples each do not hide the one that changed."""
    found = asked(path, "diff", "..", "--find-change")
    check([row["symbol"] for row in found["changes"]] == ["function_0"], "among rare functions:", found["changes"])
    check(found["changes"] and 8 <= found["changes"][0]["window"] <= 10, found["changes"])


def check_steady(path):
    found = asked(path, "diff", "..", "--find-change")
    check(not found["changes"] and 1 <= len(found["within_noise"]) <= 3, "a change in steady windows", found["changes"])
    status, out, _ = run("--socket", path, "diff", "..", "--find-change")
    check(status == 0 and "no function changed by more than noise; the largest differences, of all functions and times:" in out, out)
    check(out.count(" function_") == len(found["within_noise"]), "the largest differences:", out)
    check(asked(path, "history", "function_0", "..")["change"] is None, "a change of a steady function")


def served(kind, n_windows, *checks):
    with tempfile.TemporaryDirectory() as place:
        socket = os.path.join(place, "socket")
        with subprocess.Popen([sys.argv[2], socket, os.path.join(place, "windows.db"), kind, str(n_windows)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            check(server.stdout.readline() == b"ready\n", "no server")
            for each in checks:
                each(socket)
            server.stdin.close()
            server.stdout.read()


check_short_window()
served("idle", WINDOWS, check_function, check_processes, check_text, check_bars)
served("change:90:1", CHANGING, check_change, check_similar)
served("crowded-change:8:1", 16, check_crowded)
served("change:0:1", CHANGING, check_steady)
finish()
