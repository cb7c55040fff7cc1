# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl history: the points equal what branchctl top says of the same windows."""

import json
import os
import subprocess
import sys
import tempfile

from harness import check, finish, one_line, run

WINDOWS = 16


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


with tempfile.TemporaryDirectory() as place:
    socket = os.path.join(place, "socket")
    with subprocess.Popen([sys.argv[2], socket, os.path.join(place, "windows.db"), "idle", str(WINDOWS)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        check(server.stdout.readline() == b"ready\n", "no server")
        check_function(socket)
        check_processes(socket)
        check_text(socket)
        server.stdin.close()
        server.stdout.read()
finish()
