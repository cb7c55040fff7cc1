# SPDX-License-Identifier: LGPL-2.1-or-later
"""Branches, blocks, paths, call stacks and annotated code as somebody sees them: on terminals of 80 and of 200 columns.

    screens.py SIMULATOR BRANCHCTL PROGRAM-WITH-LONG-NAMES

tmux is the terminal. Nothing may be broken off at the right and go on in the next line; what is shortened is
so in the middle of names, and numbers never are. Exit status 77: skipped, where tmux is missing or tracing is
forbidden.
"""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from engine import Wrong, output_of, simulate, skip

WAIT = 180  # seconds, for busy machines
END = "that was all"
numbers = itertools.count()  # a server takes its time to end
ROWS = 900  # all of it at once


class Screen:
    """What a command leaves on one."""

    def __init__(self, folder, command, columns, **environment):
        tmux = ["tmux", "-f", "/dev/null", "-S", os.path.join(folder, "tmux%d" % next(numbers))]
        env = dict(os.environ, LC_ALL="C.UTF-8")
        env.pop("TMUX", None)
        env.pop("NO_COLOR", None)
        env.update(environment)
        line = "%s; echo %s; sleep 1000" % (shlex.join(command), END)
        subprocess.run([*tmux, "-u", "new-session", "-d", "-x", str(columns), "-y", str(ROWS), line], env=env,
                       check=True)
        try:
            self.wait(tmux)
            self.text = self.capture(tmux)
            self.joined = self.capture(tmux, "-J")
            self.colored = self.capture(tmux, "-e")
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)

    @staticmethod
    def capture(tmux, *options):
        return subprocess.run([*tmux, "capture-pane", "-p", *options], check=True,
                              capture_output=True).stdout.decode().split(END)[0]

    def wait(self, tmux):
        end = time.monotonic() + WAIT
        while END not in subprocess.run([*tmux, "capture-pane", "-p"], check=True,
                                        capture_output=True).stdout.decode():
            if time.monotonic() > end:
                raise Wrong("it does not end")
            time.sleep(0.1)

    def lines(self):
        return self.text.rstrip().splitlines()


def must(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def check_width(screen, columns, what):
    joined = [line.rstrip() for line in screen.joined.splitlines()]
    must([line.rstrip() for line in screen.text.splitlines()] == joined, what, "goes on in the next line")
    must(all(len(line) <= columns for line in screen.lines()), what, "is too wide")
    must(len(screen.lines()) > 5, what, "has nothing in it:", screen.text)


def instructions(lines):
    return [line for line in lines if re.match(r" {0,6}(\d+\.\d\d%| {7}) +(-|\d+\.\d\d%) ", line)]


def check_annotated(screen, document, what):
    """A line for each instruction, with its address, and whole notes."""
    shown = instructions(screen.lines())
    must(len(shown) == len(document["instructions"]), what, len(shown), "instructions are shown of",
         len(document["instructions"]))
    for line, instruction in zip(shown, document["instructions"]):
        must(" %x  " % int(instruction["at"]["address"], 0) in line, what, "lacks an address:", line)
        if instruction["taken_percent"]:
            must(re.search(r" -%.1f%% +[\d.]+%%$" % instruction["taken_percent"], line), what,
                 "lacks a note:", line)
        if instruction["entered_percent"]:
            must(" +%.1f%%" % instruction["entered_percent"] in line, what, "lacks a note:", line)


def check_table(screen, what, row):
    rows = [line for line in screen.lines() if re.match(r" *\d+\.\d\d% ", line)]
    must(len(rows) == 8, what, "has", len(rows), "rows")
    for line in rows:
        must(re.search(row, line), what, "is cut:", line)


BRANCH = r"^ *[\d.]+% +\d+ +[\d.]+% .*\+0x[0-9a-f]+ +\S.*\+0x[0-9a-f]+$"
PAIR = r"^ *[\d.]+% +\d+ +[\d.]+% .*\[\.\] \S.* \[\.\] \S.*$"
BLOCK = r"^ *[\d.]+% +\d+ +[\d.]+ +\d+ +(\S.*:\d+(\.\.(\S+:)?\d+)?|\S.*\+0x[0-9a-f]+\.\.\+0x[0-9a-f]+)( +\S+)?$"


# The place of each line that is a frame, or a branch of a path, whole: its name may be cut, its end not.
FRAME = r"^    +[0-9a-f]+ \S.* \(\S+\)$"
FRAME_OF_STACK = FRAME + r"|^\S.*: leaf \d+ of \d+ samples, \d+\.\d %, \d+ stacks?$"
FRAME_OF_STREAM = r"^    (\| )?\S.*  (\S+:\d+|\+0x[0-9a-f]+)( +\((\d+\.\.)?\d+ times\))?$"
STEP = r"^    (\| )?\S.* -> (\S.*)?(\+0x[0-9a-f]+|:\d+)( \(\d+ times\))?$"
PRUNED = r"^    \.\.\. \d+ hits by longer, pruned paths$"
TREE_ROW = r"^ *\d+\.\d\d% +\d+\.\d\d% +\d+ ([ │├└─.]*)\S.* \(\S+\)$"


SHARE = r"(\d+\.\d\d%|-) +"
DIFF = r"^ *" + SHARE + SHARE + r"\*?[+-]\d+\.\d\d +\d+\.\d\d .*\S$"
DIFF_BLOCK = r"^ *" + SHARE + SHARE + r"(\*?[+-]\d+\.\d\d +\d+\.\d\d|changed|new) .*\S(:\d+(\.\.(\S+:)?\d+)?|\+0x[0-9a-f]+\.\.\+0x[0-9a-f]+)$"


def check_diff(folder, command, columns, row):
    """Rows of numbers that are whole; the words before may take several lines."""
    screen = Screen(folder, command, columns)
    parts = []
    for text in screen.text, screen.joined:
        lines = [line.rstrip() for line in text.rstrip().splitlines()]
        heads = [i for i, line in enumerate(lines) if re.match(r" *OLD +NEW ", line)]
        must(len(heads) == 1, "no table:", text)
        first = heads[0] - lines[heads[0] - 1].startswith("---")
        parts.append(lines[first:heads[0] + 9])
    must(parts[0] == parts[1], command, "goes on in the next line")
    must(all(len(line) <= columns for line in parts[0]), command, "is too wide:", *parts[0])
    n_heads = heads[0] - first + 1
    for line in parts[0][n_heads:]:
        must(re.search(row, line), command, "is cut:", line)
    return "\n".join(parts[0][:n_heads])


def check_diffs(branchctl, folder, old, new):
    """On 80 columns there are fewer columns, and all of them on 200."""
    diff = [branchctl, "--no-pager", "diff", old, new, "-n", "8", "--all"]
    for options, row, wide in ((["--by", "function"], DIFF, ("TOTAL", "PER SECOND")), (["--by", "line"], DIFF, ("PER SECOND",)),
                               (["--by", "object"], DIFF, ("PER SECOND",)),
                               (["--by", "block"], DIFF_BLOCK, ("SHARE", "AVERAGE"))):
        check_diff(folder, [*diff, *options], 80, row)
        head = check_diff(folder, [*diff, *options], 200, row)
        must(all(name in head for name in wide), "columns are missing:", head)


def check_paths(screen, what, head, row):
    """Eight of them: numbers, and the lines of each."""
    heads = [i for i, line in enumerate(screen.lines()) if re.match(head, line)]
    must(len(heads) == 8, what, "shows", len(heads), "of 8")
    for line in screen.lines()[heads[0]:]:
        must(not line or re.match(head, line) or re.match(row, line) or re.match(PRUNED, line) or
             line.endswith("-n 0 shows all"), what, "is cut:", line)


def check_all_paths(branchctl, folder, recording, program, columns):
    top = [branchctl, "--no-pager", "top", recording, "-n", "8"]
    stream = r"^cycles: \d+, hits: \d+\.\d\d% \(\d+\)"
    for options, head, row in (["--by", "stream"], stream + r"(, \d+ continuations?)?$", FRAME_OF_STREAM), \
                              (["--by", "stream", "--depth", "full"], stream + "$", STEP), \
                              (["--by", "stack"], r"^\d+\.\d\d%  \d+ samples?$", FRAME_OF_STACK):
        screen = Screen(folder, [*top, "--object", program, *options], columns)
        check_width(screen, columns, " ".join(options))
        check_paths(screen, " ".join(options), head, row)
        must("\033[1m" in screen.colored, "nothing is bold")
    for first in "caller", "callee":
        screen = Screen(folder, [*top, "--by", "stack", "-n", "60", "--tree=" + first], columns)
        check_width(screen, columns, "--tree")
        check_tree(screen, first)


def check_tree(screen, first):
    """Lines lead to each row from the one it belongs to."""
    lines = screen.lines()
    head = next(i for i, line in enumerate(lines) if line.startswith("  TOTAL"))
    rows = lines[head + 1:head + 61]
    row = TREE_ROW if first == "caller" else TREE_ROW.replace(r"% +\d+\.\d\d% ", "% ", 1)
    must(len(rows) == 60, "--tree shows", len(rows))
    above = ""
    for line in rows:
        found = re.match(row, line)
        must(found, "--tree is cut:", line)
        marks = found.group(1)
        for column, mark in enumerate(marks):
            must(mark not in "│└" or not above or above[column:column + 1] in ("├", "│", " "),
                 "a line comes from nowhere:", line)
        above = marks
    must(lines[head + 61].endswith("more lines, -n 0 shows all"), "--tree ends with", lines[head + 61])


def check_colors(folder, command):
    must("\033[31m" in Screen(folder, command, 80).colored, "no hot colour")
    must("\033[2m" in Screen(folder, command, 80).colored, "nothing is dim")
    must("\033" not in Screen(folder, command, 80, NO_COLOR="1").colored, "colours in spite of NO_COLOR")
    must(b"\033" not in output_of(*command).stdout, "colours into a pipe")


def check_arrows(folder, command):
    must(re.search("[↑↓→]", Screen(folder, command, 80).text), "no arrows")
    plain = Screen(folder, command, 80, LC_ALL="C").text
    must(plain.isascii() and re.search(r" (v|\^|->)( |$)", plain, re.M), "arrows that are no ASCII")


def find_function(branchctl, recording, program):
    """The hottest of the program with a name that no terminal has room for."""
    rows = json.loads(output_of(branchctl, "top", recording, "--object", program, "--json", "-n", "0").stdout)["rows"]
    return next(row for row in rows if len(row["symbol"] or "") > 200)


def check(branchctl, recording, program, folder):
    function = find_function(branchctl, recording, program)
    name = "%s:%s" % (os.path.basename(program), function["address"])
    annotate = [branchctl, "--no-pager", "annotate", name, recording]
    document = json.loads(output_of(*annotate, "--json").stdout)
    top = [branchctl, "--no-pager", "top", recording, "-n", "8", "--object", program]
    for columns in (80, 200):
        screen = Screen(folder, annotate, columns)
        check_width(screen, columns, "annotate")
        check_annotated(screen, document, "annotate")
        must("..." in screen.lines()[0] and "(...)" in screen.lines()[0], "the name is", screen.lines()[0])
        screen = Screen(folder, [*annotate, "--source"], columns)
        check_width(screen, columns, "annotate --source")
        check_annotated(screen, document, "annotate --source")
        must(re.search(r"^\S+\.(cc|h):\d+ ", screen.text, re.M), "no source lines")
        for options, row in ((["--by", "branch-site"], BRANCH), (["--by", "branch-site", "--mispredicted"], BRANCH),
                             (["--by", "branch-site", "--branch-kind", "cond"], BRANCH), (["--by", "block"], BLOCK),
                             (["--by", "branch"], PAIR), (["--by", "branch", "--mispredicted"], PAIR)):
            screen = Screen(folder, [*top, *options], columns)
            check_width(screen, columns, " ".join(options))
            check_table(screen, " ".join(options), row)
        check_all_paths(branchctl, folder, recording, program, columns)
    check_colors(folder, annotate)
    check_arrows(folder, annotate)


def main():
    simulator, branchctl, program = sys.argv[1:]
    if not shutil.which("tmux"):
        skip("tmux is not installed")
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "simulated.data")
        other = os.path.join(folder, "other.data")
        simulate(simulator, recording, ["--period", "101", "--callchain"], [program, "60"])
        simulate(simulator, other, ["--period", "101", "--callchain", "--seed", "7"], [program, "90"])
        try:
            check_diffs(os.path.abspath(branchctl), folder, recording, other)
            check(os.path.abspath(branchctl), recording, os.path.realpath(program), folder)
        except Wrong as wrong:
            print("FAILED:", wrong)
            sys.exit(1)


main()
