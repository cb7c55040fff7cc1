# SPDX-License-Identifier: LGPL-2.1-or-later
"""Branches, blocks and streams that were too rare to be kept: they count in sums, and are shown nowhere as code.

others.py BRANCHCTL SERVE_WINDOWS
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from harness import check, finish, run

SUMS = "1..4"  # windows of minutes as merging leaves them; behind the tenth they are of 10 s


def asked(socket, *arguments):
    status, out, err = run("--socket", socket, *arguments)
    check(status == 0, arguments, status, err)
    return out, err


def check_views(socket, window, has_others):
    for by, total, count in ("branch-site", "rows", "count"), ("branch", "rows", "count"), ("block", "runs", "count"):
        page = json.loads(asked(socket, "top", window, "--by", by, "--json")[0])
        others, counted = page["totals"][total + "_others"], page["totals"][total + "_counted"]
        check((others > 0) == has_others, by, others, "others in", window)
        check(sum(row[count] for row in page["rows"]) + others == counted, by, "does not add up to", counted)
        check(abs(sum(row["percent"] for row in page["rows"]) - 100 * (counted - others) / counted) < 0.01, by)
        for row in page["rows"]:
            for place in row.get("from"), row.get("to"), row.get("start"), row.get("end"):
                check(not place or place["symbol"] or int(place["address"], 16) > 1, by, place)
        text = asked(socket, "top", window, "--by", by, "-n", "3")[0]
        check(("as others: rare" in text) == has_others, text)


def check_streams(socket, window):
    page = json.loads(asked(socket, "top", window, "--by", "stream", "--depth", "full", "--json")[0])
    totals = page["totals"]
    check(sum(row["hits"] for row in page["rows"]) + totals["streams_others"] == totals["streams"], "streams")


def check_dump(socket, window, has_others):
    text = asked(socket, "dump", window)[0]
    check((" others (" in text) == has_others, "others in the dump of", window)
    check(" -> 0x0\n" not in text, "a branch to 0")


def check_filters(socket):
    """By object they stay, by symbol they go."""
    page = json.loads(asked(socket, "top", SUMS, "--by", "branch-site", "--json")[0])
    row = page["rows"][0]["from"]
    part = json.loads(asked(socket, "top", SUMS, "--by", "branch-site", "--object", row["object"], "--json")[0])
    check(part["rows"] and part["totals"]["rows_others"] == page["totals"]["rows_others"], "totals are of all objects")
    asked(socket, "diff", "1..2", "3..4", "--by", "block,stream")


def check_export(socket, path):
    """A file of a compiler's tool has the real ones alone, and it is said what is missing."""
    objects = {row["from"]["object"]: row["from"]["build_id"] for row in json.loads(
        asked(socket, "top", SUMS, "--by", "branch-site", "--json")[0])["rows"]}
    path_of = next(name for name in objects if name and name.startswith("/"))
    text, said = asked(socket, "export", "--format", "autofdo", "--object", path_of, SUMS)
    check("of the branches and" in said and "too rare" in said, said)
    check(not any(line.startswith("0->") or line.startswith("1-0:") for line in text.splitlines()), text[:300])
    with sqlite3.connect(path) as db:
        shown, = db.execute("SELECT count(*) FROM branch_count WHERE target = 0").fetchone()
    check(shown > 0, "a test of nothing")


with tempfile.TemporaryDirectory() as folder:
    database, address = os.path.join(folder, "branchd.db"), os.path.join(folder, "socket")
    with subprocess.Popen([sys.argv[2], address, database, "day", "370"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        check(server.stdout.readline() == b"ready\n", "no server")
        for windows, expected in (SUMS, True), ("12..13", False):
            check_views(address, windows, expected)
            check_streams(address, windows)
            check_dump(address, windows, expected)
        check_filters(address)
        check_export(address, database)
        server.stdin.close()
        server.stdout.read()
finish()
