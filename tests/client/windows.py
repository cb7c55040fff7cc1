# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl with a daemon: status, windows, and top and dump of windows, of a mock one."""

import json
import pwd
import re
import subprocess
import time

import mock_daemon
import terminal_session
from harness import VIEWS, branchctl, check, finish, one_line, run

SHARE_SUMS = ["function", "line", "object", "process", "unit", "comm", "container", "user"]


def ask(daemon, *arguments):
    return run("--socket", daemon.path, *arguments)


def document(daemon, *arguments):
    status, out, err = ask(daemon, *arguments, "--json")
    if not check(status == 0 and out.endswith("}\n"), arguments, status, err):
        return None
    return json.loads(out)


def ids(daemon, *arguments):
    return [w["id"] for w in document(daemon, "top", *arguments)["windows"]]


def check_status(daemon):
    status, out, err = ask(daemon, "status")
    check(status == 0 and not err, status, err)
    for text in ("software, cpu-clock, 99 Hz on each of 2 CPUs", "1010 taken, 1000 written",
                 "10 lost because the ring was full, 1.0 %", "3 skipped by the kernel, 0.3 %", "0.50 % of each CPU since it started, 20.0 MiB", "BPF program: 0.00 % of each CPU since then", "1.5 us per sample",
                 "30 windows of 10 s", "3.0 MiB of at most 1.0 GiB", "no BTF: do this",
                 "the processor has no branch records", "RingSize="):
        check(text in out, "status without", text, ":", out)
    check("stacks" not in out, "stacks that were not unwound:", out)
    check(all(len(line) <= 80 for line in out.splitlines()), "status is too wide", out)
    check(document(daemon, "status")["sampling"]["frequency"] == 99, "status --json")


def check_who_lowers_the_rate():
    """Of a rate of a half, after sampling was throttled: the kernel only as long as that lowers the rate."""
    for throttled, why in ((False, "counts as that many, to hold that budget"),
                           (True, "counts as that many, as the kernel throttles")):
        status = dict(mock_daemon.STATUS, samples=dict(mock_daemon.STATUS["samples"], throttled=3),
                      cost=dict(mock_daemon.STATUS["cost"], throttled=throttled))
        daemon = mock_daemon.Daemon([])
        daemon._answer = lambda call, connection, status=status: {"parameters": status}
        with daemon:
            out = ask(daemon, "status")[1]
            check(why in out, "status without", why, ":", out)


def check_status_of_branch_records():
    status = dict(mock_daemon.STATUS, sampling={
        "running": True, "mode": "stack+branch", "event": "cycles", "frequency": 0,
        "period": 1000003, "n_cpus": 4, "records": "Intel LBR", "depth": 32, "filter": "any,u",
        "note": "back to a switch", "reason": ""})
    status["samples"] = dict(mock_daemon.STATUS["samples"], filtered=7)
    status["snapshots"] = {
        "snapshots": 200, "empty": 3, "full": 150, "rows": 5000, "no_branch_stack": 2}
    status["stacks"] = {
        "complete": 995, "no_table": 3, "stack_bytes": 1, "no_return_address": 1,
        "invalid_frame": 0, "depth_limit": 0, "frames_by_pointer": 12, "of_32_bit": 0, "waited": 40, "tables": 5,
        "table_bytes": 1 << 20, "incomplete": [
            {"path": "/opt/no\x1b[2Jtable", "stacks": 4, "no_table": 3},
            {"path": "/opt/other", "stacks": 1, "no_table": 0}]}
    daemon = mock_daemon.Daemon([])
    daemon._answer = lambda call, connection: {"parameters": status}
    with daemon:
        status, out, err = ask(daemon, "status")
        check(status == 0 and not err, status, err)
        for text in ("stacks    99.5 % of 1000 user stacks are complete\n"
                     "          0.3 % end at code without an unwind table\n"
                     "          0.1 % end at the end of the stack bytes that were copied\n"
                     "          0.1 % end at an invalid return address\n",
                     "          1 end in /opt/other\n", "table, 3 of them without a table\n",
                     "stack+branch, cycles, one in 1000003 on each of 4 CPUs",
                     "Intel LBR, 32 records deep: any,u\n", "back to a switch\n",
                     "25.0 records per snapshot; 1.5 % of the snapshots empty, 75.0 % full\n",
                     "2 samples came without", "7 samples left out: of other processes, users or units"):
            check(text in out, "status without", text, ":", out)


def check_status_of_nothing():
    """A daemon of another version may report less, and one that cannot sample says why."""
    reply = {"version": "9", "problems": ["it is\x1b[2J late"],
             "sampling": {"running": False, "reason": "load the module"}}
    daemon = mock_daemon.Daemon([])
    daemon._answer = lambda call, connection: {"parameters": reply}
    with daemon:
        status, out, err = ask(daemon, "status")
        check(status == 0 and not err and "load the module" in out, status, out, err)
        check("\x1b" not in out, "a problem moves the cursor", out)


def check_windows(daemon):
    status, out, err = ask(daemon, "windows")
    rows = out.splitlines()
    check(status == 0 and not err and len(rows) == 42, status, err, out)
    check(rows[0].split() == ["ID", "START", "LENGTH", "SAMPLES", "MISSING", "MODE"], rows[0])
    check(rows[1].split()[0] == "101" and rows[-1].split()[0] == "@0", rows[1], rows[-1])
    check(rows[-1].split()[-3:-1] == ["-", "-"], "the open window is said to have a count", rows[-1])
    listed = document(daemon, "windows")["windows"]
    check(len(listed) == 41 and listed[0]["id"] == 101 and listed[-1]["id"] is None, listed[0])
    check(listed[0]["start"] == daemon.windows[0]["start_us"] / 1e6, "times are not exact")
    check(document(daemon, "windows", "-n", "2")["windows"] == listed[-2:], "the last two")
    check(document(daemon, "windows", "-n", "0")["windows"] == listed, "all")
    some = document(daemon, "windows", "--since", "-60s", "--until", "-30s")["windows"]
    check(3 <= len(some) <= 4, len(some), "windows of 30 seconds")


def recent_ids(*arguments):
    """Of windows up to now; once more if a window would have closed meanwhile, as on a busy machine."""
    while True:
        with mock_daemon.Daemon(mock_daemon.recent()) as daemon:
            found = ids(daemon, *arguments)
            if mock_daemon.now_us() < daemon.windows[-1]["start_us"] + mock_daemon.LENGTH:
                return found


def check_missing():
    """Gaps and losses are said in the first lines, and in JSON; an open window that nobody read has no counts."""
    windows = mock_daemon.recent(4)
    windows[0]["start_us"] -= 60 * mock_daemon.SECOND
    with Lossy(windows) as daemon:
        for words in ["top", "101.."], ["diff", "101..103", "104"], ["top", "101..", "--comm", "demo"]:
            status, out, err = ask(daemon, *words)
            whose = "old: " if words[0] == "diff" else ""
            check(status == 0 and not err, words, err)
            check("\n" + whose + "not sampled for 60.0 s of" in "\n".join(out.splitlines()[:5]), words, out)
            check(re.search("\n" + whose + r"4\.[89] % of the samples are missing: \d\d were", out), words, out)
        check("not sampled" not in ask(daemon, "top", "103..")[1], "a gap where there is none")
        totals = document(daemon, "top", "101..104")["totals"]
        check(totals["sampled"] == 40 and totals["not_sampled"] == 60 and totals["lost"] == 21, totals)
        check(abs(totals["lost_percent"] - 100 * 21 / 421) < 1e-6, totals)
        totals = document(daemon, "diff", "101..103", "104")
        check((totals["old_totals"]["not_sampled"], totals["new_totals"]["not_sampled"]) == (60, 0), totals["old_totals"])
        opened = document(daemon, "windows")["windows"][-1]
        check(opened["open"] and opened["samples"] is None and opened["lost"] is None, opened)
        read = document(daemon, "top", "@0")["windows"][-1]
        check(read["samples"] == 7, read)


class Lossy(mock_daemon.Daemon):
    """One of twenty samples is lost."""

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        counters = reply["parameters"]["profile"]["counters"]
        counters["lost_samples"] = counters["samples"] // 19
        return reply


def check_all_rows(daemon):
    """JSON has all rows, however small, unless -n says how many."""
    for words in ["top"], ["top", "--by", "stack"], ["diff", "@-1", "@-2", "--by", "function"]:
        rows = "functions" if words[0] == "diff" else "rows"
        whole, one = document(daemon, *words), document(daemon, *words, "-n", 1)
        check(len(whole[rows]) == (2 if "stack" in words else 3) + len(MANY) and len(one[rows]) == 1, words,
              len(whole[rows]), len(one[rows]))


def check_few():
    """Where a side has few samples, diff says that little can be told."""
    for samples, few in (26, True), (100, False):
        with mock_daemon.Daemon(mock_daemon.recent(samples=samples)) as daemon:
            status, out, err = ask(daemon, "diff", "101", "102", "--by", "function")
            check(status == 0 and ("few samples, 26 and 26: only large changes" in out) == few, samples, out, err)


def check_narrow(daemon):
    """On 40 columns a table has its hottest columns and its names."""
    def on_40_columns(*words):
        return terminal_session.run_on_terminal("--socket", daemon.path, *words, "--no-pager", "--color=never", columns=40)

    for words in ["top", "@-1"], ["diff", "@-1", "@-2", "--by", "function"]:
        text, status = on_40_columns(*words)
        table = text[text.index(" FUNCTION"):].splitlines()[1:]
        check(status == 0 and any("work" in line for line in table), words, text)
        check(all(len(line) <= 40 for line in table), words, "is too wide:", text)
    text, status = on_40_columns("top", "@-1", "--by", "stack")
    check(status == 0 and all(len(line) <= 40 for line in text.splitlines()), "stacks are too wide:", text)
    check("\nwork (demo): 75.0 %, 1 stack\n" in text, "the numbers of a group:", text)


def check_clones():
    """Copies and parts that a compiler made of a function are named, or taken where there is one alone."""
    for names, arguments, status, said in (
            (["work", "work.part.0", "work.cold"], ["work"], 0, "not in its counts: work.part.0, work.cold"),
            (["work.part.0", "other"], ["work"], 0, ""),
            (["work.part.0", "work.constprop.0.cold"], ["work"], 1, "2 copies or parts of it; give one of work.part.0, work.constprop.0.cold"),
            (["work.part.0", "work.cold"], ["work.cold"], 0, ""),
            (["worker", "work.of.art"], ["work"], 1, "no counts for a function 'work'")):
        with Named(mock_daemon.recent(2)) as daemon:
            daemon.names = names
            got, out, err = ask(daemon, "annotate", *arguments, "@-1")
            check(got == status and said in err and bool(err) == bool(said), names, arguments, got, out, err)
            check(status != 0 or (names[0] if arguments[0] != names[-1] else names[-1]) in out, names, out)


class Named(mock_daemon.Daemon):
    """With functions with such names, each with samples."""

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        profile = reply["parameters"]["profile"]
        profile["functions"] = [{"object": 0, "start": hex(0x1000 + i * 256), "size": 256, "name": name, "fingerprint": None}
                                for i, name in enumerate(self.names)]
        profile["stacks"]["rows"] = [[None, 0, 0, hex(0x1010 + i * 256), 50, 0, 50, 0] for i in range(len(self.names))]
        return reply


def check_open_window():
    """Of the open window, in which nothing was counted yet, there is no number: 0 would be one."""
    with mock_daemon.Daemon(mock_daemon.recent(2)) as daemon:
        for samples, shown in (7, 7), (0, None):
            daemon.windows[-1].update(samples=samples, lost=0)
            window = json.loads(ask(daemon, "top", "--json")[1])["windows"][-1]
            check(window["open"] and window["samples"] == shown, samples, window)


def check_interpreters():
    """Of what runs in an interpreter that can name its programs' functions, how."""
    for names, language in ((["_PyEval_EvalFrameDefault", "other"], "Python"), (["Builtins_InterpreterEntryTrampoline"], "JavaScript"),
                            (["work", "other"], None)):
        with Named(mock_daemon.recent(2)) as daemon:
            daemon.names = names
            out = ask(daemon, "top", "@-1")[1]
            said = f"50.0 % of the samples are in the interpreter of {language}: started as "
            check((said in out) == bool(language) and ("interpreter" in out) == bool(language), names, out)
            check("interpreter" not in ask(daemon, "top", "@-1", "--by", "object")[1], names, "by object")


class Unnamed(mock_daemon.Daemon):
    """Without the symbol of work(), where three of four samples are."""

    program = "/usr/bin/demo"

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        functions = reply["parameters"]["profile"]["functions"]
        functions[:] = [function for function in functions if function["name"] != "work"]
        reply["parameters"]["profile"]["objects"][0]["path"] = self.program
        return reply


class UnnamedCaller(Unnamed):
    """Code without symbols that calls work() and has few samples itself."""

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        profile = reply["parameters"]["profile"]
        profile["objects"].append(dict(profile["objects"][0], path="/usr/lib/libcaller.so", build_id="cd" * 20))
        for row, object_number, moved in (0, 1, 5), (2, 0, -5):
            stack = profile["stacks"]["rows"][row]
            profile["stacks"]["rows"][row] = [*stack[:2], object_number, stack[3], stack[4] + moved, 0, stack[6] + moved, 0]
        return reply


def check_unnamed():
    """Much code without symbols: of which objects, and what to do; not if there is little."""
    line = "75.0 % of the samples are in functions without a name: demo 75.0 %; install their debug symbols and restart branchd"
    for server, said in (Unnamed, True), (mock_daemon.Daemon, False):
        with server(mock_daemon.recent(2)) as daemon:
            status, out, err = ask(daemon, "top", "@-1")
            check(status == 0 and not err and (line in out) == said, status, out, err)
            check("without a name" not in ask(daemon, "top", "@-1", "--by", "process")[1], "by process")
    with Unnamed(mock_daemon.recent(2)) as daemon:
        daemon.program = "/opt/demo"
        out = ask(daemon, "top", "@-1")[1]
        check("demo 75.0 %; build them with symbols" in out and "install" not in out, "of one's own:", out)
    with UnnamedCaller(mock_daemon.recent(2)) as daemon:
        for order in "self", "total":
            out = ask(daemon, "top", "@-1", "--sort", order)[1]
            check("demo 70.0 %, libcaller.so 5.0 %; install" in out, "--sort", order, out)


MANY = ["function_%d" % i for i in range(30)]


class Many(mock_daemon.Daemon):
    """With more functions than a table has rows."""

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        profile = reply["parameters"]["profile"]
        for i, name in enumerate(MANY):
            profile["functions"].append({"object": 0, "start": hex(0x2000 + i * 16), "size": 16, "name": name, "fingerprint": None})
            profile["stacks"]["rows"].append([None, 0, 0, hex(0x2000 + i * 16), 1, 0, 1, 0])
        return reply


def check_times():
    check(recent_ids() == list(range(111, 141)) + [None], "the default is five minutes")
    for words in ["-5min"], ["5min ago"], ["-5min.."], ["--since", "-5min"], ["--since", "-5min", "--until", "now"]:
        found = recent_ids(*words)
        check(found[0] in (110, 111, 112) and found[-1] is None, words, found)
    check(len(recent_ids("--since", "-60s", "--until", "-30s")) in (3, 4), "--since -60s --until -30s")
    check(recent_ids("--until", "-6min")[0] == 101, "--until -6min")
    check(len(recent_ids("-60s..-30s")) in (3, 4), "-60s..-30s")


def check_minutes():
    """Two spans that meet: a window is on one side, but the one within which they meet is on both, which is said."""
    with mock_daemon.Daemon(mock_daemon.recent()) as daemon:
        status, out, err = ask(daemon, "diff", "-2min..-1min", "-1min", "--json")
        if not check(status == 0, status, err):
            return
        old, new = ([w["id"] for w in json.loads(out)[side]] for side in ("old", "new"))
        check(len(old) in (6, 7) and len(new) in (7, 8, 9), old, new)
        common = [window for window in old if window in new]
        check(common in ([], [old[-1]]) and new[-1] in (None, 140), old, new)
        check(err == "".join(f"branchctl: window {window} is on both sides, because one ends and the other begins within "
                             "it\n" for window in common), old, new, err)


def check_merged():
    """Windows that were merged as they aged."""
    start = mock_daemon.now_us() - 1900 * mock_daemon.SECOND
    coarse = [mock_daemon.window(5 + i * 60, start + i * 600 * mock_daemon.SECOND, length_us=600 * mock_daemon.SECOND)
              for i in range(3)]
    with mock_daemon.Daemon(coarse) as daemon:
        out = ask(daemon, "top", "..")[1]
        check("windows 5 to 125" in out and "the longest of 10 min" in out, out)
        for word, found, said in (("42", [5], ["window 42 was merged into window 5 as"]),
                                  ("6..124", [5, 65], ["window 6 was merged into window 5 as",
                                                       "window 124 was merged into window 65 as"]),
                                  ("5..66", [5, 65], ["window 66 was merged into window 65 as"]),
                                  ("65", [65], []), ("5..", [5, 65, 125], [])):
            check(ids(daemon, word) == found, word, ids(daemon, word))
            status, _, err = ask(daemon, "top", word)
            lines = err.splitlines()
            check(status == 0 and len(lines) == len(said), word, status, err)
            check(all(part in line for part, line in zip(said, lines)), word, err)
        for word in "4", "126", "42..126":
            status, out, err = ask(daemon, "top", word)
            check(status == 1 and not out and "ids 5 to 125" in err, word, status, err)


def check_references(daemon):
    check(ids(daemon, "120") == [120], "120")
    check(ids(daemon, "@0") == [None], "@0")
    check(ids(daemon, "@-1") == [140], "@-1")
    check(ids(daemon, "@-3..@-1") == [138, 139, 140], "@-3..@-1")
    check(ids(daemon, "105..107") == [105, 106, 107], "105..107")
    check(ids(daemon, "..102") == [101, 102], "..102")
    check(ids(daemon, "139..") == [139, 140, None], "139..")
    for word in "99", "@-99", "2020-01-01", "2020-01-01..2020-01-02", "10..20":
        status, out, err = ask(daemon, "top", word)
        check(status == 1 and not out and one_line(err), word, status, err)
        check(word in err and "40, ids 101 to 140" in err, word, err)


def check_views(daemon):
    for by in VIEWS:
        top = document(daemon, "top", "101..110", "--by", by, "-n", "0")
        check(top["totals"]["samples"] == 1000, by, top["totals"]["samples"])
        if by in SHARE_SUMS:
            check(sum(row["self"] for row in top["rows"]) == 1000, by, top["rows"])
        check(ask(daemon, "top", "@-1", "--by", by)[0] == 0, by)
    top = document(daemon, "top", "101", "--by", "function")["rows"]
    check([(row["symbol"], row["self"]) for row in top[:2]] == [("work", 75), ("idle_\u017eofie", 25)],
          top)
    check(ask(daemon, "top", "101")[2] == "", "top complains")
    check("branchctl status" in ask(daemon, "top", "101", "--by", "branch")[1], "why no branches")


def user_name(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def check_owners(daemon):
    """Two keys: rows say whose they are."""
    container = "3f4a9c0b12de" + "ab" * 26
    for owner, want in (("process", ("demo 4711", "other 4712")), ("comm", ("demo", "other")),
                        ("unit", ("demo.service", f"/docker/{container}")), ("container", ("-", container[:12])),
                        ("user", (user_name(1000) or "1000", user_name(0)))):
        for first, second in ("function", owner), (owner, "function"):
            status, out, err = ask(daemon, "top", "101", "--by", first, "--by", second, "-n", "0")
            check(status == 0 and not err, first, second, status, err)
            rows = [line.split() for line in out.splitlines() if "%" in line]
            check([(row[0], row[-1]) for row in rows] == [("75.00%", "work"), ("25.00%", "idle_\u017eofie"), ("0.00%", "main")],
                  owner, out)
            for row, name in zip(rows, (want[0], want[1], want[0])):
                check(name in " ".join(row), owner, name, row)
        rows = document(daemon, "top", "101", "--by", "function", "--by", owner)
        check((rows["by"], rows["owner"]) == ("function", owner), rows["by"])
        check([(row["symbol"], row["self"]) for row in rows["rows"]] == [("work", 75), ("idle_\u017eofie", 25), ("main", 0)], rows)
    row = document(daemon, "top", "101", "--by", "container")["rows"][1]
    check((row["container"], row["engine"], row["pod"], row["self"]) == (container, "docker", None, 25), row)
    check("docker" in ask(daemon, "top", "101", "--by", "container")[1], "no engine")
    check([(row["user"], row["uid"], row["self"]) for row in document(daemon, "top", "101", "--by", "user")["rows"]]
          == [(user_name(1000), 1000, 75), (user_name(0), 0, 25)], "users")


def check_filters(daemon):
    for option, value, want in (("--pid", 4711, 75), ("--comm", "other", 25), ("--uid", 1000, 75),
                                ("--unit", "demo", 75)):
        top = document(daemon, "top", "101", option, value)
        check(top["totals"]["samples"] == want, option, value, top["totals"]["samples"])
        check(daemon.calls[-1]["parameters"].get(option[2:]) == value, daemon.calls[-1])
    for options, name, value in ((["--pid", "1,2", "-p", "3"], "pids", "1,2,3"), (["--uid", "root,7"], "uids", "0,7"),
                                 (["--comm", "a*", "--comm", "b"], "comm", "a*,b"),
                                 (["--exclude-comm", "x"], "exclude_comm", "x"),
                                 (["--container", "3f4a"], "container", "3f4a")):
        ask(daemon, "top", "@-1", *options)
        check(daemon.calls[-1]["parameters"].get(name) == value, options, daemon.calls[-1])
    for command in ("top", "101"), ("diff", "101", "102"), ("dump", "101"):
        status, out, err = ask(daemon, *command, "--pid", 1, "--json")
        check(status == 1 and json.loads(out), command, "of no process", status, out)
        check("nothing matches the filters" in err, command, "of no process", err)
    check(ask(daemon, "dump", "101", "--comm", "other", "--json")[0] == 0, "of a process")
    top = document(daemon, "top", "101", "--symbol", "work")
    check(sum(row["self"] for row in top["rows"]) == 75, "--symbol", top["rows"])
    out = ask(daemon, "top", "101", "--symbol", "work")[1]
    check("\nshown: 75 samples (75.0 %)\n" in out and "branch record" not in out, "of windows without branch records:", out)


def check_dump(daemon):
    status, out, err = ask(daemon, "dump", "101..102", "--pid", "4711")
    check(status == 0 and not err and "windows 101 to 102" in out and "150  samples" in out, out, err)
    check("4711" in out and "4712" not in out, "dump --pid has other processes")
    dumped = document(daemon, "dump", "101")
    check(dumped["profile"] == 7 and dumped["counters"]["samples"] == 100, "dump --json")


def check_follow(daemon):
    with subprocess.Popen([branchctl, "--socket", daemon.path, "windows", "--follow", "--json",
                           "--since", "-2min"], stdout=subprocess.PIPE) as process:
        first = [json.loads(process.stdout.readline())]
        while first[-1]["id"] < 140:
            first.append(json.loads(process.stdout.readline()))
        daemon.closed(mock_daemon.window(141, mock_daemon.now_us(), 55))
        last = json.loads(process.stdout.readline())
        check(last["id"] == 141 and last["samples"] == 55, last)
        process.terminate()
        process.stdout.read()


def check_loss_while_following(daemon):
    """The daemon goes: one line, and no success."""
    with subprocess.Popen([branchctl, "--socket", daemon.path, "windows", "--follow"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not daemon.followers:
            time.sleep(0.01)
        for follower in daemon.followers:
            follower.shutdown(2)
        out, err = process.communicate(timeout=300)
        check(process.returncode == 1 and one_line(err.decode()), process.returncode, out, err)


def check_reader_gone(daemon):
    """When the reader leaves, there is no message about a broken pipe, and no hanging."""
    done = subprocess.run([branchctl + " --socket " + daemon.path + " windows | head -n 1"],
                          shell=True, capture_output=True, timeout=300)
    check(done.stdout.startswith(b" ID") and not done.stderr, done)


def check_gap():
    """Time in which no daemon ran has a row of its own, and none in JSON."""
    rows = mock_daemon.recent()
    with mock_daemon.Daemon(rows[:10] + rows[16:]) as daemon:
        status, out, err = ask(daemon, "windows")
        gaps = [line.split() for line in out.splitlines() if "not sampled" in line]
        check(status == 0 and not err and len(gaps) == 1, status, err, gaps)
        check(gaps and gaps[0][0] == "-" and gaps[0][3:] == ["60.0", "s", "-", "-", "not", "sampled"], gaps)
        check(out.splitlines().index(next(line for line in out.splitlines() if "not sampled" in line)) == 11, out)
        check(len(document(daemon, "windows")["windows"]) == len(rows) - 6, "windows in JSON")


def check_refusals_of_marks(daemon):
    for arguments, status, words in (
            (["unwritable"], 1, "branchd could not do that: Read-only file system; branchctl status"),
            (["before"], 1, "there is a mark 'before' already"), (["now..", "-5min"], 2, "cannot be the name"),
            (["yesterday"], 2, "no time"), (["a/b"], 2, "cannot be the name"), (["7up"], 2, "letter"),
            (["new", "@0"], 1, "@-1"), (["new", "x.data"], 2, "recording"), (["new", "999"], 1, "ids 101 to 140"),
            (["new", "a", "b"], 2, "NAME"), ([], 2, "--list"), (["--list", "x"], 2, "nothing else"),
            (["--delete"], 2, "NAME"), (["--delete", "x", "1"], 2, "only a NAME"),
            (["--delete", "deploy"], 1, "there are before, one")):
        code, out, err = ask(daemon, "mark", *arguments)
        check(code == status and not out and one_line(err) and words in err, arguments, code, out, err)


def check_marks():
    """A name stands for its windows wherever a window does."""
    with mock_daemon.Daemon(mock_daemon.recent()) as daemon:
        check(ask(daemon, "mark", "--list") == (0, "no marks\n", ""), "a list of none")
        status, out, err = ask(daemon, "top", "before")
        check(status == 1 and "branchctl mark NAME makes one" in err, status, err)
        status, out, err = ask(daemon, "mark", "before", "111..113")
        check(status == 0 and out.startswith("before: 3 windows from ") and "300 samples" in out, status, out, err)
        check(ask(daemon, "mark", "one", "@-1")[0] == 0, "the last closed one")
        check_refusals_of_marks(daemon)
        check(ids(daemon, "before") == [111, 112, 113], "a name")
        check(ids(daemon, "before..115") == [111, 112, 113, 114, 115], "a range from a name")
        check(ids(daemon, "one") == [140], "another name")
        status, out, err = ask(daemon, "diff", "before", "@-1", "--by", "object")
        check(status == 0, status, err)
        status, out, err = ask(daemon, "top", "deploy")
        check(status == 1 and "there are before, one;" in err, status, err)
        marks = document(daemon, "mark", "--list")["marks"]
        check([(m["name"], m["first"], m["last"], m["windows"]) for m in marks] ==
              [("before", 111, 113, 3), ("one", 140, 140, 1)], marks)
        windows = document(daemon, "windows")["windows"]
        check([w["id"] for w in windows if w["marks"] == ["before"]] == [111, 112, 113], windows)
        lines = ask(daemon, "windows")[1].splitlines()
        check("MARKS" in lines[0] and sum(line.endswith("before") for line in lines) == 3, lines)
        check(ask(daemon, "mark", "--delete", "before")[0] == 0, "deleted")
        status, out, err = ask(daemon, "top", "before")
        check(status == 1 and "there is one;" in err, status, err)
        status, out, err = ask(daemon, "mark", "recent")
        check(status == 0 and re.search("recent: (29|30) windows", out), "the last five minutes without the open one", out, err)


def check_empty():
    with mock_daemon.Daemon([]) as daemon:
        status, out, _ = ask(daemon, "windows")
        check(status == 0 and out == "no windows\n", status, out)
        status, out, err = ask(daemon, "top")
        check(status == 1 and not out and one_line(err) and "none yet" in err, status, err)


def check_large():
    """A day of windows, one of them asked for."""
    with mock_daemon.Daemon(mock_daemon.recent(8640)) as daemon:
        check(ids(daemon, "4711") == [4711], "of a day")
        status, out, _ = ask(daemon, "windows")
        check(status == 0 and out.count("\n") == 8642, out.count("\n"))


check_times()
check_minutes()
with mock_daemon.Daemon(mock_daemon.recent()) as shared:
    check_status(shared)
    check_windows(shared)
    check_references(shared)
    check_views(shared)
    check_owners(shared)
    check_narrow(shared)
    check_filters(shared)
    check_dump(shared)
    check_reader_gone(shared)
check_merged()
with mock_daemon.Daemon(mock_daemon.recent()) as shared:
    check_follow(shared)
with mock_daemon.Daemon(mock_daemon.recent()) as shared:
    check_loss_while_following(shared)
check_who_lowers_the_rate()
check_status_of_branch_records()
check_status_of_nothing()
check_gap()
check_clones()
check_unnamed()
check_interpreters()
check_open_window()
check_missing()
with Many(mock_daemon.recent()) as shared:
    check_all_rows(shared)
check_marks()
check_few()
check_empty()
check_large()
finish()
