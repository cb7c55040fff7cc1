# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion in a real shell: words are typed, Tab and Enter pressed, and the program says what it was given.

completion.py BRANCHCTL SHELL SCRIPT
"""

import os
import shutil
import sys
import tempfile
import time

import mock_daemon
import perfdata
from harness import SKIPPED, branchctl, check, finish
from tmux import Terminal

WAIT = 60  # seconds, for busy machines
SHELL, SCRIPT = sys.argv[2], os.path.abspath(sys.argv[3])
HOSTILE = "$(touch pwned)"
TEMPLATE = "std::vector<int>::push(int&&, char)"

# What is typed, and the arguments that the program then has.
CASES = [
    ("to\t--mis\t", ["top", "--mispredicted"]),
    ("top --by fun\t", ["top", "--by", "function"]),
    ("top --by=fun\t", ["top", "--by=function"]),
    ("diff --by function,obj\t", ["diff", "--by", "function,object"]),
    ("top --by block --sort ru\t", ["top", "--by", "block", "--sort", "runs"]),
    ("help ann\t", ["help", "annotate"]),
    ("export --format spee\t", ["export", "--format", "speedscope"]),
    ("{socket} top 12\t5", ["top", "125"]),
    ("{socket} diff 101..13\t9 @-\t", ["diff", "101..139", "@-1"]),
    ("{socket} top bef\t", ["top", "before-deploy"]),
    ("{socket} mark --delete bef\t", ["mark", "--delete", "before-deploy"]),
    ("vac\t--si\t", ["vacuum", "--size"]),
    ("{socket} top -p 58\t", ["top", "-p", "5815"]),
    ("{socket} top --pid 5815,47\t", ["top", "--pid", "5815,4711"]),
    ("{socket} top -u de\t", ["top", "-u", "demo.service"]),
    ("{socket} top --comm de\t", ["top", "--comm", "demo"]),
    ("{socket} top --comm \\$\t", ["top", "--comm", HOSTILE]),
    ("{socket} top --container 3f\t", ["top", "--container", "3f4a9c0b12de" + "ab" * 26]),
    ("{socket} top --object /usr/b\t", ["top", "--object", "/usr/bin/demo"]),
    ("{socket} annotate wo\t", ["annotate", "work"]),
    ("{socket} annotate std::v\t", ["annotate", TEMPLATE]),
    ("{socket} history id\t", ["history", "idle_\u017eofie"]),
    ("top rec\t", ["top", "recorded.data"]),
    ("top --symfs fol\t", ["top", "--symfs", "folder"]),
    ("run -- printe\t", ["run", "--", "printenv"]),
    ("top --zork\t", ["top", "--zork"]),
]
if SHELL == "bash":
    CASES += [
        ("{socket} top --comm \"\\$\t", ["top", "--comm", HOSTILE]),
        ("{socket} annotate 'std::v\t", ["annotate", TEMPLATE]),
    ]


class Daemon(mock_daemon.Daemon):
    """With names that a shell must not take for its own."""

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        profile = reply["parameters"]["profile"]
        profile["processes"][1].update(comm=HOSTILE, pid=5815)
        profile["functions"][0]["name"] = TEMPLATE
        return reply


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def make_home(home):
    """A folder with a program that records its arguments, and what the shell reads first."""
    os.mkdir(os.path.join(home, "bin"))
    os.mkdir(os.path.join(home, "folder"))
    os.makedirs(os.path.join(home, "fish", "generated_completions"))  # or fish makes them of all manuals
    program = os.path.join(home, "bin", "branchctl")
    write(program, '#!/bin/sh\n[ "$1" != __complete ] || exec %s "$@"\n'
          'printf "%%s\\0" "$@" >%s/new && mv %s/new %s/given\n' % (branchctl, home, home, home))
    os.chmod(program, 0o755)
    perfdata.write(os.path.join(home, "recorded.data"), [perfdata.sample(1)])
    write(os.path.join(home, "rc"), ". %s\nPS1='> '\n" % SCRIPT)
    write(os.path.join(home, ".zshrc"), "fpath=(%s $fpath)\nautoload -U compinit\ncompinit -D -u\nPS1='> '\n"
          % os.path.dirname(SCRIPT))


def command(home):
    env = ["env", "-C", home, "HOME=" + home, "ZDOTDIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home,
           "HISTFILE=/dev/null",
           "PATH=%s/bin:%s" % (home, os.environ["PATH"])]
    return env + {"bash": ["bash", "--rcfile", os.path.join(home, "rc"), "-i"],
                  "zsh": ["zsh", "-o", "no_global_rcs", "-i"],
                  "fish": ["fish", "--private", "-C", "source %s; function fish_prompt; echo -n '> '; end" % SCRIPT]}[SHELL]


def given(path):
    """The arguments of the program, once it ran; None: it did not."""
    global WAIT
    end = time.monotonic() + WAIT
    while not os.path.exists(path):
        if time.monotonic() > end:
            WAIT = 5  # what follows goes wrong, too
            return None
        time.sleep(0.02)
    with open(path, encoding="utf-8") as f:
        words = f.read().split("\0")[:-1]
    os.unlink(path)
    return words


def check_case(terminal, home, socket, case):
    """Keys wait in the terminal until the shell reads them."""
    typed, want = case
    typed = "branchctl " + typed.format(socket="--socket " + socket)
    for i, part in enumerate(typed.split("\t")):
        if i > 0:
            terminal.press("Tab")
        if part:
            terminal.type(part)
    terminal.press("Enter")
    got = given(os.path.join(home, "given"))
    if got is None:
        terminal.press("C-c")
    elif got[:1] == ["--socket"]:
        got = got[2:]
    got = got and [word.rstrip("/") for word in got]  # of a folder, as shells differ
    check(got == want, SHELL, repr(typed), "gave", got, "not", want, "" if got == want else terminal.text())


def check_list(terminal):
    """Tab without a beginning shows all there is."""
    terminal.type("branchctl top --by ")
    terminal.press("Tab", "Tab")
    terminal.shows("branch-site", "container", "stream")


if not shutil.which(SHELL) or not shutil.which("tmux"):
    print("skipped: needs %s and tmux" % SHELL)
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, Daemon(mock_daemon.recent()) as daemon:
    make_home(place)
    daemon.marks = [{"name": "before-deploy", "first": 101, "last": 102, "windows": 2, "since_us": 1, "until_us": 2,
                     "samples": 3, "lost": 0, "made_us": 4, "uid": 0}]
    with Terminal(command(place), columns=150) as screen:
        screen.shows("> ")
        for each in CASES:
            check_case(screen, place, daemon.path, each)
        check_list(screen)
    check(not os.path.exists(os.path.join(place, "pwned")), "a name was run")
finish()
