# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the commands write with --json is what the installed schemas say: no member more, no member less.

schema.py BRANCHCTL SERVE_WINDOWS SQL SCHEMA...

SQL is a database of an older version, with branch paths.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

import mock_daemon
import perfdata
from harness import RECORDED_VIEWS, SKIPPED, VIEWS, check, finish, run

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(SKIPPED)

NOT_IN_DIFF = ("stack", "branch", "branch-site")


def strict(schema, whole=True):
    """
    Readers skip members that they do not know; here one that no schema names is a fault. @whole: it alone says what an
    object has, unlike the parts of an allOf.
    """
    if not isinstance(schema, dict):
        return schema
    result = dict(schema)
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            result[key] = {name: strict(each, key == "properties") for name, each in value.items()}
        elif key in ("items", "then", "additionalProperties"):
            result[key] = strict(value, key == "items")
        elif key in ("anyOf", "allOf"):
            result[key] = [strict(each, whole and key == "anyOf") for each in value]
    if whole and any(key in schema for key in ("properties", "allOf", "$ref")) and "additionalProperties" not in schema:
        result["unevaluatedProperties"] = False
    return result


def load(paths):
    """By command: what validates its output."""
    files, validators = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        files[os.path.basename(path)] = strict(schema, os.path.basename(path) != "types.json")
    for name, schema in files.items():
        resolver = jsonschema.RefResolver(name, schema, store=files)
        validators[name[:-len(".json")]] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return validators


def shortened(value):
    """Long lists say the same again and again: what they begin with, and their end."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in (value if len(value) <= 12 else value[:8] + value[-4:])]
    return value


def validate(command, document, *what):
    error = jsonschema.exceptions.best_match(VALIDATORS[command].iter_errors(document))
    check(not error, *what, "is not as its schema says:", error and (list(error.absolute_path), error.message[:300]))


def ask(path, command, *arguments, status=0):
    got, out, err = run("--socket", path, command, *arguments, *(["--json"] if command != "dump" else ["--format", "json"]))
    if not check(got == status, command, arguments, got, err):
        return None
    document = json.loads(out)
    validate(command, shortened(document), command, *arguments)
    return document


def check_mock(path):
    ask(path, "windows")
    ask(path, "mark", "name", "101..103")
    ask(path, "mark", "--list")
    ask(path, "windows")
    for by in VIEWS:
        ask(path, "top", "--by", by)
    for by in "process", "comm", "unit", "container", "user":
        ask(path, "top", "--by", "function", "--by", by)
        ask(path, "top", "--by", by, "--by", "object", "-n", 1)
    ask(path, "top", "--by", "stack", "--tree", "@-1")
    ask(path, "top", "--by", "function", "--inline", "@-1")
    ask(path, "top", "--comm", "nobody", status=1)
    ask(path, "diff", "@-1", "@-2")
    ask(path, "diff", "@-1", "@-2", "--by", ",".join(by for by in VIEWS if by not in NOT_IN_DIFF))
    ask(path, "annotate", "work", "@-1")
    ask(path, "annotate", "-n", 2)
    ask(path, "dump")


def check_served(path):
    """Windows with branch records, by the daemon's own code."""
    ask(path, "status")
    for by in VIEWS:
        if by != "stream":
            check(ask(path, "top", "--by", by, "..", "-n", 20)["rows"], "nothing by", by)
    for by in VIEWS:
        if by not in NOT_IN_DIFF:
            ask(path, "diff", "1..2", "3", "--by", by, "-n", 30)
    ask(path, "annotate", "-n", 2, "2")
    ask(path, "history", "--comm", "worker", "..")
    ask(path, "dump", "2")


def check_streams(path):
    for depth in 2, "full":
        document = ask(path, "top", "--by", "stream", "--depth", depth, "..", "-n", 20)
        check(document["rows"], "no streams", depth)
        check(any(ask(path, "diff", "1..2", "3..5", "--by", "stream", "--depth", depth)["streams"].values()), "no streams")
    ask(path, "diff", "1..2", "3..5")


def check_changing(path):
    ask(path, "diff", "--find-change", "..")
    ask(path, "history", "function_3", "..")
    ask(path, "verify")
    ask(path, "vacuum", "--time", "150s")


def check_recording(folder):
    path = os.path.join(folder, "work.data")
    perfdata.write(path, [perfdata.comm(b"work"), perfdata.mapping(b"/no/such/program"), perfdata.sample(1), perfdata.sample(2)])
    for by in RECORDED_VIEWS:
        ask("/nonexistent", "top", "--by", by, path)
    ask("/nonexistent", "top", path, "--event", "cpu-clock", "--event", "cpu-clock")
    ask("/nonexistent", "diff", path, path, "--event", "cpu-clock", "--event", "cpu-clock")
    ask("/nonexistent", "dump", path)


def check_the_test():
    """An object too many, or one that lacks a member, is found."""
    window = {"id": 1, "open": False, "start": 1.5, "length": 2.0, "samples": 3, "lost": 4, "mode": "stack", "marks": []}
    for change, valid in ({}, True), ({"samples": None}, True), ({"samples": "3"}, False), ({"more": 1}, False):
        found = VALIDATORS["windows"].is_valid({"windows": [dict(window, **change)]})
        check(found == valid, "a window with", change)
    check(not VALIDATORS["windows"].is_valid({"windows": [{"id": 1}]}), "a window without members")
    check(not VALIDATORS["windows"].is_valid({}), "no windows")


VALIDATORS = load(sys.argv[4:])
check_the_test()
with mock_daemon.Daemon(mock_daemon.recent()) as daemon:
    check_mock(daemon.path)
with tempfile.TemporaryDirectory() as place:
    check_recording(place)
    with open(sys.argv[3], encoding="utf-8") as sql, contextlib.closing(sqlite3.connect(os.path.join(place, "idle.db"))) as db:
        db.executescript(sql.read())
    for shape, n, each in ("busy", 3, check_served), ("idle", 0, check_streams), ("change:10:1", 20, check_changing):
        socket = os.path.join(place, "socket")
        with subprocess.Popen([sys.argv[2], socket, os.path.join(place, shape + ".db"), shape, str(n)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            check(server.stdout.readline() == b"ready\n", "no server")
            each(socket)
            server.stdin.close()
            server.stdout.read()
finish()
