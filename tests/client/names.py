# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that are not what was meant, and names that several things have: what is said of them."""

import json
import os
import re
import tempfile

import mock_daemon
from harness import check, finish, one_line, run

LIBC = "__memcpy_avx_unaligned_erms"


class Changed(mock_daemon.Daemon):
    """Its profiles are changed by a function of the profile and of the first window."""

    def __init__(self, change):
        super().__init__(mock_daemon.recent(4))
        self.change = change

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        self.change(reply["parameters"]["profile"], reply["parameters"]["windows"][0]["id"])
        return reply


def ask(daemon, *arguments):
    return run("--socket", daemon.path, *arguments)


def call_work(name):
    def change(profile, _):
        profile["functions"][1]["name"] = name
    return change


def check_similar_names():
    with Changed(call_work(LIBC)) as daemon:
        status, out, err = ask(daemon, "top", "@-1", "--symbol", "memcpy")
        check(status == 1 and one_line(err) and f"--symbol '*memcpy*' matches similar names: {LIBC} (75.0 %)" in err, out, err)
        status, out, err = ask(daemon, "top", "@-1", "--symbol", "*memcpy*")
        check(status == 0 and not err and LIBC in out, status, out, err)
        status, out, err = ask(daemon, "annotate", "memcpy", "@-1")
        check(status == 1 and one_line(err) and f"similar: {LIBC} (75.0 %)" in err, status, out, err)
        status, out, err = ask(daemon, "annotate", "*memcpy*", "@-1")
        check(status == 1 and one_line(err) and f"'*memcpy*' is a pattern: give one function, such as {LIBC} (75.0 %)" in err,
              status, out, err)
        status, out, err = ask(daemon, "annotate", "no_such_*", "@-1")
        check(status == 1 and one_line(err) and "no counts for a function 'no_such_*'" in err, status, out, err)
    with Changed(call_work("idle_loop")) as daemon:  # with three times the samples of idle_z...
        daemon.change = lambda profile, _: [function.update(name=name) for function, name in
                                            zip(profile["functions"], ("main", "__idle_avx", "idle"))]
        status, out, err = ask(daemon, "top", "@-1", "--symbol", "idle")
        check(status == 0 and one_line(err) and "'*idle*'" in err and "__idle_avx (75.0 %)" in err, status, out, err)
        status, out, err = ask(daemon, "top", "@-1", "--symbol", "__idle_avx")
        check(status == 0 and not err, "a hint where most was found:", err)


def add_file(path, build_id):
    """All of idle() is in another file, as a function of the name work."""
    def change(profile, _):
        profile["objects"].append(dict(profile["objects"][0], path=path, build_id=build_id))
        profile["functions"][2].update(object=1, name="work")
        profile["stacks"]["rows"][1][2] = 1
    return change


def check_shared_names():
    with Changed(add_file("/opt/new/demo", "cd" * 20)) as daemon:
        for words in ["top", "@-1"], ["diff", "@-2", "@-1", "--by", "function"]:
            out = ask(daemon, *words)[1]
            check(re.search("/usr/bin/demo +work", out) and re.search("/opt/new/demo +work", out), words, out)
    with Changed(add_file("/usr/bin/demo", "cd" * 20)) as daemon:
        out = ask(daemon, "top", "@-1")[1]
        check(re.search("demo abababab +work", out) and re.search("demo cdcdcdcd +work", out), out)
        out = ask(daemon, "diff", "@-2", "@-1", "--by", "function")[1]
        check(re.search(r" demo +work", out) and "abababab" not in out, "one row is of both builds", out)


def check_builds():
    """Of a function in two builds the newest is shown, and it is said how to have the other."""
    add = add_file("/usr/bin/demo", "cd" * 20)

    def restart(profile, window):
        add(profile, window)
        profile["processes"][1].update(executable="/usr/bin/demo", start_ns=9)

    with Changed(restart) as daemon:
        status, out, err = ask(daemon, "annotate", "work", "@-1")
        check(status == 0 and ": 25 samples" in out and one_line(err), status, out, err)
        check("work is in 2 builds of demo: this is cdcdcdcd (25 samples), the newest; "
              "--object ID shows abababab (75 samples)" in err, err)
        status, out, err = ask(daemon, "annotate", "work", "@-1", "--object", "abababab")
        check(status == 0 and ": 75 samples" in out and "shows cdcdcdcd (25 samples), the newest" in err, status, out, err)
        for length, known in (40, True), (5000, False):
            def boot(profile, window, length=length):
                restart(profile, window)
                profile["info"].update(start_ns=10**12, end_ns=10**12 + length * 10**9)
            daemon.change = boot
            err = ask(daemon, "annotate", "work", "101..104")[2]
            check(one_line(err) and ("which is newer is not known" in err) != known, "windows of", length, "s since boot:", err)
        daemon.change = restart
        top = json.loads(ask(daemon, "top", "@-1", "--object", "cdcdcdcd", "--json")[1])
        check([row["build_id"] for row in top["rows"]] == ["cd" * 20], "the begin of a build-id", top["rows"])


def move_work(profile, window):
    """From 25 of 100 samples to 75 of them, from window 103 on."""
    rows = profile["stacks"]["rows"]
    if window < 103:
        rows[1][4], rows[2][4] = rows[2][4], rows[1][4]


def check_marks_of_significance():
    with Changed(move_work) as daemon:
        status, out, err = ask(daemon, "diff", "102", "103", "--by", "function")
        check(status == 0 and re.search(r"\*\+50\.00 .* work", out) and re.search(r"\*-50\.00 .* idle", out), out, err)
        check(re.search(r" \+0\.00 +[0-9.]+ .*\*\+50\.00 .* main", out), "main, of which its total alone moved:", out)
        out = ask(daemon, "diff", "103", "104", "--by", "function")[1]
        check("*" not in out, "nothing moved:", out)


def check_within_noise():
    """Nothing moved by more than noise: the largest difference is said, and what compares better."""
    def shift(profile, window):
        rows = profile["stacks"]["rows"]
        if window == 103:
            rows[1][4], rows[2][4] = rows[1][4] + 5, rows[2][4] - 5

    with Changed(shift) as daemon:
        for words in [], ["--by", "function"]:
            status, out, err = ask(daemon, "diff", "102", "103", *words)
            check(status == 0 and not err, status, err)
            check(re.search(r"no significant change in 3 functions; the largest, within noise: work: from 75.00 % to "
                            r"70.00 %, -5.00 points \(95 %: -\d", out), out)
            check(out.endswith("--comm NAME or --unit NAME compares shares within a program, which other load does not move\n"),
                  "no advice:", out)
        check("--comm NAME" not in ask(daemon, "diff", "102", "103", "--comm", "demo")[1], "advice that was followed")
        check("--comm NAME" not in ask(daemon, "diff", "103", "104", "--by", "comm")[1], "advice about programs")
        check("the largest" not in ask(daemon, "diff", "101", "102")[1], "what differs by nothing")


def check_estimated():
    """What the daemon left out, to hold its budget, is said wherever samples are counted, from 1 % on."""
    def estimate(n):
        def change(profile, _):
            profile["counters"]["samples_estimated"] = n
        return change

    for n in 0, 60:
        with Changed(estimate(n)) as daemon, tempfile.TemporaryDirectory() as folder:
            for words in ["top", "@-1"], ["diff", "@-2", "@-1"], ["top", "@-1", "--comm", "demo"], \
                         ["export", "@-1", "--format", "folded", "-o", os.path.join(folder, "folded")]:
                status, out, err = ask(daemon, *words)
                said = "60 % of the samples are estimated, as CpuBudget= left them out" in out + err
                check(status == 0 and said == (n > 0), n, words, out, err)


def check_removed():
    """Behind a mark windows were removed; where ids go on, the daemon did not run."""
    rows = mock_daemon.recent()
    for first, word in (rows[16]["id"], "removed"), (rows[10]["id"], "not sampled"):
        kept = rows[:10] + [dict(window, id=first + i) for i, window in enumerate(rows[16:-1])] + rows[-1:]
        with mock_daemon.Daemon(kept, counts=True) as daemon:
            check(ask(daemon, "mark", "old", "101..110")[0] == 0, "no mark")
            out = ask(daemon, "windows")[1]
            check(sum(word in line for line in out.splitlines()) == 1, word, out)
            out = ask(daemon, "history", "work", "..", "-n", "40")[1]
            check(("removed" in out) == (word == "removed"), word, out)
            for words, whose in (["top", ".."], ""), (["diff", "..", "@-1"], "old: "):
                out = ask(daemon, *words)[1]
                said = {"removed": f"\n{whose}the windows of 60.0 s in between were removed to free space\n",
                        "not sampled": f"\n{whose}not sampled for 60.0 s of"}
                check(said[word] in out and not any(other in out for key, other in said.items() if key != word), word, out)
            totals = json.loads(ask(daemon, "top", "..", "--json")[1])["totals"]
            check((totals["removed"], totals["not_sampled"]) == ((60, 0) if word == "removed" else (0, 60)), word, totals)


def check_words_for_windows():
    """A mark where a function is wanted."""
    with mock_daemon.Daemon(mock_daemon.recent(4), counts=True) as daemon:
        check(ask(daemon, "mark", "old", "101..102")[0] == 0, "no mark")
        for command in "annotate", "history":
            status, out, err = ask(daemon, command, "old")
            check(status == 1 and not out and one_line(err) and f"branchctl {command} main old" in err, status, out, err)
            check("is a mark" not in ask(daemon, command, "older")[2], "a word that is no mark")


def check_unnamed_objects():
    """Status names the objects that have most samples without a function, if there are such."""
    daemon = mock_daemon.Daemon(mock_daemon.recent(4), counts=True)
    functions = daemon._functions

    def unnamed(parameters):
        reply = functions(parameters)
        reply["parameters"]["places"][1][1] = None
        return reply
    daemon._functions = unnamed
    with daemon:
        status, out, err = ask(daemon, "status")
        check(status == 0 and not err and "unnamed   in the last window demo 37.0 %\n" in out, out, err)
        check("rows [unknown] of branchctl top -n 0" in out, out)
    with mock_daemon.Daemon(mock_daemon.recent(4), counts=True) as daemon:
        check("unnamed" not in ask(daemon, "status")[1], "no code without a function")


def check_second_path():
    """A program that is under two paths is found by both, though its object has one."""
    def rename(profile, _):
        profile["processes"][1]["executable"] = "/opt/copy"
    with Changed(rename) as daemon:
        for path in "/usr/bin/demo", "/opt/copy", "copy", "cop*":
            status, out, err = ask(daemon, "top", "@-1", "--object", path)
            check(status == 0 and not err and "work" in out and "idle" in out, path, status, out, err)
            status, out, err = ask(daemon, "annotate", "work", "@-1", "--object", path)
            check(status == 0 and "work" in out, path, status, out, err)
        check(ask(daemon, "top", "@-1", "--object", "cop")[0] == 1, "a path of nothing is found")


check_second_path()
check_words_for_windows()
check_unnamed_objects()
check_similar_names()
check_shared_names()
check_builds()
check_marks_of_significance()
check_within_noise()
check_estimated()
check_removed()
finish()
