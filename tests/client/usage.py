# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line itself: what is refused, how, and with which status."""

import os
import re
import subprocess
import tempfile

from harness import VIEWS, branchctl, check, finish, one_line, run

SOCKET = "/nonexistent/io.branchd"

WRONG_USAGE = [
    [],
    ["report"],
    ["--zork"],
    ["-z"],
    ["top", "--by"],
    ["top", "--by", "flower", "./a.data"],
    ["top", "-n", "many", "./a.data"],
    ["top", "-n", "-1", "./a.data"],
    ["top", "--pid", "12x", "./a.data"],
    ["top", "-p", "12x", "./a.data"],
    ["top", "--by", "function", "--by", "block", "./a.data"],
    ["top", "--by", "block", "--by", "process", "./a.data"],
    ["top", "--by", "function", "--by", "nope", "./a.data"],
    ["top", "--by", "function", "--by", "process", "--by", "comm", "./a.data"],
    ["top", "--by", "function", "--by", "process", "--inline", "./a.data"],
    ["diff", "./a.data", "./b.data", "--by", "function", "--by", "process"],
    ["top", "--pid", "1,x", "./a.data"],
    ["top", "--pid", "1,", "./a.data"],
    ["top", "--pid", "4294967296", "./a.data"],
    ["top", "--tid", "12"],
    ["top", "--tid=12", "./a.data"],
    ["top", "--uid", "0,nobody-of-this-name"],
    ["top", "--comm", "", "./a.data"],
    ["top", "--exclude-comm", "", "./a.data"],
    ["top", "--symbol", "", "./a.data"],
    ["top", "--object", "a" * 1025, "./a.data"],
    ["top", *["--comm", "a" * 100] * 11, "./a.data"],
    ["top", "./a.data", "--container", "3f4a"],
    ["status", "--container", "3f4a"],
    ["top", "--comm", "a," * 600, "./a.data"],
    ["top", "--unit", "a" * 1025],
    ["status", "-u", "x.service"],
    ["help", "report"],
    ["top", "--color", "blue", "./a.data"],
    ["top", "--json=yes", "./a.data"],
    ["top", "--samples", "./a.data"],
    ["top", "./a.data", "./b.data"],
    ["diff"],
    ["diff", "./a.data"],
    ["diff", "./a.data", "./b.data", "./c.data"],
    ["diff", "./a.data", "./b.data", "--by", "stack"],
    ["diff", "./a.data", "./b.data", "--by", "function,stack"],
    ["diff", "./a.data", "./b.data", "--by", "function,,block"],
    ["diff", "./a.data", "./b.data", "--by", "block,block"],
    ["diff", "./a.data", "./b.data", "--by", "function,block", "--depth", "3"],
    ["top", "--by", "function,block", "./a.data"],
    ["diff", "./a.data", "./b.data", "--percent-limit", "101"],
    ["diff", "./a.data", "./b.data", "--percent-limit", "nan"],
    ["diff", "./a.data", "./b.data", "--once"],
    ["diff", "./a.data", "@-1", "--event", "a", "--event", "b"],
    ["top", "--once", "--event", "a", "--event", "b"],
    ["top", "--every=0"],
    ["top", "--every=1ms"],
    ["top", "--every=soon"],
    ["top", "--every="],
    ["top", "--every", "--once"],
    ["top", "--every", "--host-list", "/dev/null"],
    ["top", "--every", "@-1"],
    ["top", "--every", "./a.data"],
    ["top", "--every", "--since", "-1h"],
    ["top", "--percent-limit", "-1"],
    ["top", "--percent-limit", "5", "--by", "branch"],
    ["top", "--percent-limit", "5", "--by", "stack", "--tree"],
    ["windows", "--every"],
    ["dump", "./a.data", "--event", "a", "--event", "b"],
    ["top", "./a.data", *["--event", "a"] * 17],
    ["diff", "./a.data", "./b.data", "--before", "/"],
    ["diff", "./a.data", "./b.data", "--changed-func", ""],
    ["top", "--changed-func", "main"],
    ["diff", "@-1", "10:99"],
    ["top", "--all"],
    ["dump", "--by", "branch", "./a.data"],
    ["dump", "-n", "3", "./a.data"],
    ["dump", "--format", "xml", "./a.data"],
    ["dump", "--samples", "--json", "./a.data"],
    ["dump", "--inline", "./a.data"],
    ["dump", "--branches", "./a.data"],
    ["dump", "--samples"],
    ["dump", "--samples", "10:00..10:10"],
    ["dump", "--once", "@0"],
    ["top", "10:99"],
    ["top", "-5"],
    ["top", "-5parsecs"],
    ["top", "@1"],
    ["top", ""],
    ["top", "5..3"],
    ["top", "2026-11-20", "10:00"],
    ["top", "--since", "-5min", "@-1"],
    ["top", "--until", "-5min", "./a.data"],
    ["top", "--since", "-5min", "--until", "-6min"],
    ["dump", "--since", "-5min", "--samples"],
    ["diff", "--since", "-5min", "@-1", "@-2"],
    ["diff", "--since", "-5min"],
    ["windows", "-n", "3", "--follow"],
    ["diff", "--find-change", "@-1", "@-2"],
    ["diff", "--find-change", "./a.data"],
    ["diff", "--find-change", "--by", "stream"],
    ["diff", "--find-change", "--all"],
    ["top", "--find-change"],
    ["status", "--since", "-5min"],
    ["top", "Mon 2026-11-20"],
    ["top", "10:00+30:00"],
    ["top", "--by", "block", "--mispredicted"],
    ["top", "--by", "unit", "--mispredicted", "--level", "user"],
    ["top", "--mispredicted", "--sort", "total"],
    ["top", "--mispredicted", "--inline"],
    ["top", "--mispredicted", "--cluster", "http://localhost"],
    ["top", "--by", "block", "--branch-kind", "cond"],
    ["top", "--by", "branch", "--branch-kind", "cond,,ret"],
    ["top", "--level", "user"],
    ["top", "--by", "branch", "--level", "guest", "./a.data"],
    ["top", "--by", "stack", "--sort", "from"],
    ["top", "--verbose", "./a.data"],
    ["top", "--event", "cycles"],
    ["top", "--event", "cycles", "yesterday"],
    ["dump", "--force", "42"],
    ["annotate", "main", "42", "--symfs", "/"],
    ["top", "--kallsyms", "/proc/kallsyms"],
    ["export", "--format", "folded", "--no-stitch", "-5min"],
    ["diff", "41", "42", "--event", "cycles"],
    ["top", "./a.data", "--symfs", "/no/such"],
    ["top", "./a.data", "--debug-dir", "/dev/null"],
    ["diff", "./a.data", "./b.data", "--before", "/no/such", "--after", "/"],
    ["top", "./a.data", "--unit", "ssh"],
    ["flame", "./a.data", "--diff", "./b.data", "--uid", "0"],
    ["top", "--uid", "no-such-user"],
    ["top", "--by", "stack", "--verbose", "--tree", "./a.data"],
    ["top", "--by", "stack", "--verbose", "--json", "./a.data"],
    ["top", "--by", "branch-site", "--sort", "size", "./a.data"],
    ["top", "--sort", "cycles", "./a.data"],
    ["top", "--by", "block", "--sort", "self", "./a.data"],
    ["top", "--by", "process", "--sort", "total", "./a.data"],
    ["dump", "--mispredicted"],
    ["export"],
    ["export", "./a.data"],
    ["export", "--format", "flower", "./a.data"],
    ["export", "--format"],
    ["export", "--format", "folded", "./a.data", "./b.data"],
    ["export", "--format", "folded", "--json", "./a.data"],
    ["export", "--format", "folded", "--color", "never", "./a.data"],
    ["export", "--format", "folded", "-n", "5", "./a.data"],
    ["export", "--format", "folded", "--by", "stack", "./a.data"],
    ["export", "--format", "folded", "--pid", "x", "./a.data"],
    ["export", "--format", "folded", "-o"],
    ["export", "--format", "folded", "10:99"],
    ["export", "--format", "text", "./a.data"],
    ["export", "--format", "html", "--diff", "./a.data", "./b.data"],
    ["export", "--format", "html", "--open", "./a.data"],
    ["flame", "./a.data", "./b.data"],
    ["flame", "--diff", "./a.data"],
    ["flame", "./a.data", "--diff"],
    ["flame", "./a.data", "--diff", "10:99"],
    ["flame", "./a.data", "--diff", "./b.data", "--format", "svg"],
    ["flame", "./a.data", "--format", "png"],
    ["flame", "./a.data", "--open", "-o", "-"],
    ["flame", "./a.data", "--json"],
    ["flame", "./a.data", "-n", "5"],
    ["flame", "./a.data", "--by", "process"],
    ["flame", "./a.data", "--since", "10:00"],
    ["flame", "--until", "9:00", "--since", "10:00"],
    ["flame", "--event", "a", "--event", "b", "./a.data"],
    ["top", "-o", "file"],
    ["dump", "--format", "folded", "./a.data"],
    ["annotate", "main", "@0", "@-1"],
    ["annotate", "main", "-n", "5"],
    ["annotate", "./a.data", "main"],
    ["annotate", "a.data", "b.data"],
    ["annotate", "main", "--symbol", "x"],
    ["annotate", "main", "5..3"],
    ["top", "--source"],
    ["top", "--att"],
    ["annotate", "main", "--att=yes", "./a.data"],
    ["top", "--depth", "4"],
    ["top", "--by", "stream", "--depth", "0"],
    ["top", "--by", "stream", "--depth", "129"],
    ["top", "--by", "stream", "--depth", "all"],
    ["status", "42"],
    ["status", "--pid", "1"],
    ["windows", "42"],
    ["history"],
    ["history", "-5min"],
    ["history", "main", "./a.data"],
    ["history", "main", "-n", "201"],
    ["history", "main", "@0", "@-1"],
    ["history", "main", "--by", "stack"],
    ["history", "main", "--symbol", "x"],
    ["windows", "--since", "whenever"],
    ["windows", "--since", "-1min", "--until", "-2min"],
]

# A window of a daemon that does not run, or what cannot be read.
FAILURES = [
    ["status"],
    ["windows"],
    ["windows", "--follow", "--since", "-5min"],
    ["top"],
    ["dump"],
    ["diff", "42", "43"],
    ["annotate"],
    ["annotate", "main"],
    ["annotate", "main", "./not-there.data"],
    ["annotate", "not-there.data"],
    ["annotate", "@-1", "-n", "2"],
    ["diff", "./nothing.data", "./nothing.data"],
    ["top", "42"],
    ["top", "@-1"],
    ["top", "yesterday"],
    ["top", "-5min"],
    ["top", "2 hours ago"],
    ["top", "--since", "yesterday", "--until", "today"],
    ["export", "--format", "folded", "--since", "2026-11-20 10:00 UTC"],
    ["top", "-1h30min..-5min", "-n", "5"],
    ["top", "--", "-5min"],
    ["dump", "10:00..10:10"],
    ["history", "main"],
    ["history", "--unit", "x.service", "yesterday"],
    ["diff", "--find-change"],
    ["diff", "--find-change", "--since", "yesterday"],
    ["export", "--format", "pprof"],
    ["export", "--format", "folded", "42"],
    ["export", "--format", "folded", "10:00..10:10"],
    ["export", "--format", "folded", "./not-there.data"],
    ["flame", "42", "-o", "-"],
    ["flame", "./not-there.data", "-o", "-"],
    ["flame", "/dev/null", "-o", "-"],
    ["flame", "./not-there.data", "--diff", "/dev/null", "-o", "-"],
    ["export", "--format", "folded", "/dev/null"],
    ["top", "./not-there.data"],
    ["dump", "--samples", "./not-there.data"],
    ["top", "/"],
    ["top", "/dev/null"],
]


def check_refused():
    for status, cases in (2, WRONG_USAGE), (1, FAILURES):
        for arguments in cases:
            got, out, err = run("--socket", SOCKET, *arguments)
            check(got == status, arguments, "ended with", got, "not", status, err)
            check(out == "", arguments, "wrote", out)
            check(one_line(err), arguments, "said", err)


def check_places_of_options():
    """An option may stand anywhere: each of them gets as far as the missing file."""
    for arguments in (["--by", "branch", "top", "./no.data"], ["top", "--by", "branch", "./no.data"],
                      ["top", "./no.data", "--by", "branch"], ["top", "./no.data", "--by=branch"]):
        status, _, err = run("--socket", SOCKET, *arguments)
        check(status == 1 and "./no.data" in err, arguments, status, err)


def check_help():
    for arguments in ["--help"], ["-h"], ["top", "--help"], ["--help", "dump"], ["--version"], \
            ["help"], ["help", "top"], ["-V"], ["history", "--help"], ["status", "--help"], ["windows", "-h"], \
            ["diff", "--help"], ["export", "--help"], ["flame", "--help"]:
        status, out, err = run("--socket", SOCKET, *arguments)
        check(status == 0 and out and not err, arguments, status, err)
        check(all(len(line) <= 80 for line in out.splitlines()), arguments, "is too wide")
    check("--by" in run("top", "--help")[1], "top --help without --by")
    for line in run("help")[1].split("\n\n")[1].splitlines()[1:]:
        check(line[40] == " " and line[41].isupper(), "what a command does is not below the others", line)
    check(run("help", "dump")[1] == run("dump", "--help")[1], "help dump is not dump --help")
    check("-p, --pid PID" in run("help")[1], "--help without -p")
    check("--by" not in run("dump", "--help")[1], "dump --help with --by")


def check_views():
    """The help of each command lists the views that it has."""
    for command, operands, missing in ("top", [], ()), ("diff", ["./a.data", "./b.data"], ("stack", "branch", "branch-site")):
        help_of = run(command, "--help")[1].split("--by WHAT")[2].split("-n N")[0]
        said = run(command, *operands, "--by", "nope")[2].split("'nope'")[1]
        for text in help_of, said:
            listed = {word for word in text.replace(",", " ").replace(".", " ").split() if word in VIEWS}
            check(listed == set(VIEWS) - set(missing), command, "--by lists", listed)
    status, _, err = run("dump", "--by", "nope", "./a.data")
    check(status == 2 and "takes no --by" in err, err)


def check_completion():
    """Shells offer the options that the help lists, and commands."""
    commands = set(re.findall(r"^  (\w+) ", run("--help")[1].split("\n\n")[1], re.M))
    offered = offers("")
    check(len(commands) > 9 and offered == commands | {"help"}, "commands:", offered, commands)
    for command in commands:
        listed = set(re.findall(r"^  (?:-\w, )?(--?[\w-]+)", run(command, "--help")[1].split("\nWINDOW")[0], re.M))
        check(listed and offers(command, "-") == listed, command, offers(command, "-") ^ listed)
        check(offers("--no-pager", "help", command[:3]) >= {command}, "help", command)
    for words, some in ((["top", "--sort", ""], "total"), (["top", "--by", "stream", "--sort", ""], "average"),
                        (["export", "--format="], "--format=bolt"), (["dump", "--format", ""], "json"),
                        (["flame", "--format", ""], "svg"), (["top", "--branch-kind", "cond,"], "cond,any_ret"),
                        (["top", "--uid", "ro"], "root"), (["top", "--since", "y"], "yesterday")):
        check(some in offers(*words), words, offers(*words))
    for words in ["zork", ""], ["status", ""], ["top", "@-1", ""], ["top", "-n", ""], ["run", ""], ["top", "--zork="]:
        check(not offers(*words), words, offers(*words))


def offers(*words):
    status, out, err = run("__complete", *words)
    check(status == 0 and not err and out.splitlines()[-1][0] == ":", words, status, out, err)
    return {line.split("\t")[0] for line in out.splitlines()[:-1]}


def check_output():
    """What could not be written is a failure, though who reads no further is none."""
    for arguments in ["--help"], ["top", "--help"], ["--version"]:
        for to, want in ("/dev/full", "No space left"), ("&-", "Bad file"):
            done = subprocess.run(["sh", "-c", 'exec "$@" >' + to, "sh", branchctl, *arguments],
                                  stderr=subprocess.PIPE, check=False)
            said = done.stderr.decode()
            check(done.returncode == 1 and one_line(said) and want in said, arguments, to, done)
        done = subprocess.run(["sh", "-c", "trap '' PIPE; { sleep 0.1; \"$@\"; echo $? >&2; } | :", "sh",
                               branchctl, *arguments], stderr=subprocess.PIPE, check=False)
        check(done.stderr == b"0\n", arguments, done)


def check_name_of_a_file():
    """A message says how to write the bare name of a file in this folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("mine", "w", encoding="ascii"):
            pass
        status, _, err = run("--socket", SOCKET, "top", "mine")
        check(status == 1 and "./mine" in err, status, err)
        os.chdir("/")


def check_no_daemon():
    """One line, and what to do."""
    for arguments in ["status"], ["top"], ["top", "-5min"], ["windows"]:
        status, _, err = run("--socket", SOCKET, *arguments)
        check(status == 1 and "systemctl start branchd" in err and SOCKET in err, arguments, err)


check_refused()
check_no_daemon()
check_places_of_options()
check_help()
check_views()
check_completion()
check_output()
check_name_of_a_file()
finish()
