# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing is lost where the pager cannot run, or is not the one it is without $PAGER."""

import os
import stat
import tempfile

import perfdata
from terminal_session import run_on_terminal
from harness import check, finish


def check_not_there(path, n):
    """Neither what is within a pipe's room nor what is not."""
    whole = run_on_terminal("dump", "--samples", path, "--no-pager")[0]
    check(whole.count("\n") == 3 * n, whole[:300])
    for pager in "less-not-there", "less-not-there -x", "/", "exit 127", "exec not-there":
        text, status = run_on_terminal("dump", "--samples", path, PAGER=pager)
        check(status == 0 and text == whole, n, pager, status, len(text), "of", len(whole), text[:300])


def check_leaves(path):
    """One that did run and has seen enough is not that, though it leaves with a failure."""
    text, status = run_on_terminal("dump", "--samples", path, PAGER="head -n 1; exit 1")
    check(status == 0 and text.count("\n") == 1, status, text[:300])


def program(folder, name, script):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, stat.S_IRWXU)


def check_default(path, folder):
    """Without $PAGER less, else more, else none."""
    cat = "while read -r line; do echo {}: \"$line\"; done"
    only = {"PATH": folder, "PAGER": None}
    text, status = run_on_terminal("dump", path, **only)
    check(status == 0 and text.startswith("recording"), "none:", status, text[:300])
    for name in "more", "less":
        program(folder, name, cat.format(name))
        text, status = run_on_terminal("dump", path, **only)
        check(status == 0 and text.startswith(name + ": recording"), name, status, text[:300])


with tempfile.TemporaryDirectory() as place:
    recording = os.path.join(place, "some.data")
    for number in 100, 10000:
        perfdata.write(recording, [perfdata.sample(time) for time in range(1, number + 1)])
        check_not_there(recording, number)
    check_leaves(recording)
    check_default(recording, place)
finish()
