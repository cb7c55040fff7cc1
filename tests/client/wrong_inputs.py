# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong inputs of all commands but export and flame (wrong_exports.py): one line that says what is wrong and what to do."""

import os
import tempfile

import mock_daemon
import perfdata
from harness import check, finish, one_line, run

THERE = "there are 3, ids 101 to 103, from"
LISTS = "branchctl windows lists them"
PROCESSES = "nothing matches the filters; there are the processes demo, other"
WHATS = "give one of function, stack, stream, branch, branch-site, block, line, object, process, unit, comm, container, user"

# Words of a command, its exit status, and what its line has: what is wrong, what to do. {x} are files and their folder.
WRONG = [
    ("top 4711", 1, "no window '4711': " + THERE, LISTS),
    ("top @-9", 1, "no window '@-9': " + THERE, LISTS),
    ("top 4711..4712", 1, "no window at one end of '4711..4712'", LISTS),
    ("top nosuchmark", 1, "--comm nosuchmark", ""),
    ("top 5min", 1, "the time until now is -5min", "branchctl mark NAME makes one"),
    ("top nosuchmark", 1, "no mark is named 'nosuchmark'", "branchctl mark NAME makes one"),
    ("top here", 1, "no window has the name 'here'", "for the file write ./here"),
    ("top tomorrow", 1, "no window yet at 'tomorrow'", LISTS),
    ("top 2020-01-01", 1, "no window at '2020-01-01'", LISTS),
    ("top 2020-01-01..2020-01-02", 1, "no window in '2020-01-01..2020-01-02'", LISTS),
    ("top --since 2020-01-01 --until 2020-01-02", 1, "no window in '--since ... --until'", LISTS),
    ("top 5..3", 2, "'5..3' ends before it begins", "give the earlier end first"),
    ("top 25:00", 2, "'25:00' is not a time", "give one such as -5min, 10:00, yesterday-10:00"),
    ("top @-1 --comm nobody", 1, "window 103", PROCESSES),
    ("top @-1 --pid 999999", 1, "window 103", PROCESSES),
    ("top @-1 --unit nobody", 1, "window 103", "nothing matches the filters; there are the units "),
    ("top @-1 --container 0123", 1, "window 103", "nothing matches the filters; there are the containers "),
    ("top {work} --exclude-comm work --object none", 1, "nothing matches the filters; there are the processes work", ""),
    ("top {work} --comm work --object none", 1, "nothing matches the filters", "branchctl top --by object -n 0 lists the objects"),
    ("top @-1 --object none.so", 1, "nothing matches the filters", "branchctl top --by object -n 0 lists the objects"),
    ("top @-1 --symbol none", 1, "nothing matches the filters", "branchctl top -n 0 lists the functions"),
    ("top {work} --comm nobody", 1, "nothing matches the filters", "there are the processes work"),
    ("top {work} --uid 0", 2, "--uid is for windows of the daemon", "leave it out"),
    ("top {work} --by user", 2, "a recording has no units, users and containers", "such as --by process"),
    ("top {work} --by unit --by function", 2, "--by unit is for windows of the daemon", "such as --by process"),
    ("diff @-1 {work} --by object,container", 2, "--by container is for windows", "such as --by process"),
    ("top {work} --event cycles", 1, "no event cycles in the recording", "choose one of: cpu-clock"),
    ("top {text}", 1, "not a recording of perf's", "give a file that perf record wrote"),
    ("top {folder}/none.data", 1, "none.data", "No such file or directory"),
    ("top {folder}/", 1, "is a directory", "recordings that `perf record --threads` wrote as one cannot be read"),
    ("top --by pid", 2, "--by 'pid'", WHATS),
    ("top -n 1.5", 2, "-n '1.5'", "give a number"),
    ("top --sort total --by process", 2, "--sort works only with", "--by function, line, object, stream"),
    ("top @-1 --uid nobody-of-this-name", 2, "--uid 'nobody-of-this-name'", "give a user of this machine or the number of any"),
    ("top @-1 --tid 3", 2, "threads are not told apart", "give --pid"),
    ("top @-1 --level kernel", 2, "--level works only with", "--by branch or --by branch-site"),
    ("top @-1 --event cycles", 2, "--event is for a recording", "give a path that contains a '/'"),
    ("diff @-1", 2, "diff needs two WINDOWs", "as in branchctl diff yesterday-10:00 10:00"),
    ("diff @-1 4711", 1, "no window '4711'", LISTS),
    ("diff @-1 @-1 @-1", 2, "diff takes two WINDOWs, not 3", "quote a time that contains a blank"),
    ("diff {work} {text}", 1, "not a recording of perf's", "give a file that perf record wrote"),
    ("annotate none @-1", 1, "no counts for a function 'none'", "branchctl top -n 0 lists the functions"),
    ("annotate libc.so.6:0xzz @-1", 1, "'0xzz' is not an address", "give OBJECT:0xADDRESS"),
    ("annotate none.so:0x10 @-1", 1, "no counts at 0x10", "branchctl top --by object -n 0 lists the objects"),
    ("dump 4711", 1, "no window '4711'", LISTS),
    ("dump --samples @-1", 2, "dump --samples needs a recording", "give a path that contains a '/'"),
    ("dump @-1 --format xml", 2, "--format 'xml'", "give text or json"),
    ("history", 2, "history of what?", "as in branchctl history main"),
    ("history main 2020-01-01", 1, "no window at '2020-01-01'", LISTS),
    ("windows 3", 2, "windows takes no '3'", "see branchctl windows --help"),
    ("windows --since yesterday --until 2020-01-01", 2, "--until must be later than --since", ""),
    ("mark", 2, "mark needs a NAME", "as in branchctl mark before-deploy"),
    ("mark yesterday", 2, "'yesterday' cannot be the name of windows", "give at most 64 letters, digits"),
    ("mark list", 2, "'list' cannot be the name of windows", "branchctl mark --list"),
    ("mark delete good", 2, "'delete' cannot be the name of windows", "branchctl mark --delete"),
    ("mark good 4711", 1, "no window '4711'", LISTS),
    ("mark good @0", 1, "the open window cannot be named", "@-1 is the last that has ended"),
    ("mark --delete none", 1, "no mark is named 'none'", "branchctl mark NAME makes one"),
    ("vacuum", 2, "vacuum needs --size or --time", "as in branchctl vacuum --size 500M"),
    ("vacuum --size lots", 2, "--size 'lots'", "give bytes such as 500M or 2G"),
    ("vacuum --time 5", 2, "--time '5'", "give a length of time such as 2h"),
    ("verify 3", 2, "verify takes no '3'", "see branchctl verify --help"),
    ("run", 2, "run needs -- and a command", "as in branchctl run -- make"),
    ("run --every 3 -- true", 2, "the span of --every follows '='", "write --every=3"),
    ("top --every 3", 2, "the span of --every follows '='", "write --every=3"),
    ("top --every 500ms", 2, "the span of --every follows '='", "write --every=500ms"),
    ("top --every @-1", 2, "from now on", "leave out @-1"),
    ("top --every=0", 2, "--every '0'", "give a span of at least 100ms, as in --every=3"),
    ("top @-1 --symbol main", 1, "no sample is in 'main' itself, 75.0 % are in what it calls",
     "branchctl top --sort total has its row"),
    ("top --by users", 2, "--by 'users'", WHATS),
    ("status 3", 2, "status takes no '3'", "see branchctl status --help"),
    ("help nonsense", 2, "unknown command 'nonsense'", "branchctl --help lists the commands"),
]


def make_files(folder):
    files = {name: os.path.join(folder, name + ".data") for name in ("work", "text")}
    perfdata.write(files["work"], [perfdata.comm(b"work"), perfdata.mapping(b"/no/such/program"), perfdata.sample(1)])
    for name in files["text"], os.path.join(folder, "here"):
        with open(name, "w", encoding="ascii") as opened:
            opened.write("work;main 3\n" * 50)
    return dict(files, folder=folder)


with tempfile.TemporaryDirectory() as place:
    known = make_files(place)
    os.chdir(place)
    with mock_daemon.Daemon(mock_daemon.recent(3)) as daemon:
        for words, wanted, wrong, remedy in WRONG:
            status, _, err = run("--socket", daemon.path, *(word.format(**known) for word in words.split(" ")))
            check(status == wanted and one_line(err) and wrong in err and remedy in err, words, status, err)
    print(len(WRONG), "wrong inputs")
finish()
