# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl on a terminal: as wide as that, in colour, and through a pager what does not fit."""

import glob
import os
import re

from terminal_session import COLUMNS, run_on_terminal
from harness import RECORDED_VIEWS, check, finish, recordings_folder

SEQUENCE = re.compile(r"\033\[[0-9;]*m")


def check_width(path):
    for by in RECORDED_VIEWS:
        text, status = run_on_terminal("top", path, "--by", by, "-n", "5", "--no-pager")
        table = [line for line in SEQUENCE.sub("", text).splitlines() if not path in line]
        check(status == 0 and len(table) > 1, by, status, text)
        wide = [line for line in table if len(line) > COLUMNS and "skipped" not in line]
        check(not wide, by, "is too wide:", wide)


def check_offsets(path):
    """However narrow, the offset of a place is there, whole."""
    text, _ = run_on_terminal("top", path, "--by", "branch-site", "-n", "5", "--no-pager")
    rows = [line for line in SEQUENCE.sub("", text).splitlines() if re.match(r" *\d+\.\d\d%", line)]
    check(len(rows) == 5, text)
    for row in rows:
        check(re.search(r"\+?0x[0-9a-f]+ +\S*0x[0-9a-f]+ *$", row), "cut:", row)


def check_colors(path):
    check("\033[" in run_on_terminal("top", path)[0], "no colours")
    check("\033[" not in run_on_terminal("top", path, NO_COLOR="1")[0], "NO_COLOR")
    check("\033[" not in run_on_terminal("top", path, TERM="dumb")[0], "TERM=dumb")
    check("\033[" not in run_on_terminal("top", path, "--color=never")[0], "--color=never")
    check("\033[" in run_on_terminal("top", path, "--color=always", NO_COLOR="1")[0], "always")


def check_pager(path):
    text, status = run_on_terminal("top", path, "--by", "branch", "-n", "0")
    check(status == 0 and all(line.startswith("paged:") for line in text.splitlines()), text[:300])
    check("paged:" not in run_on_terminal("top", path, "-n", "2")[0], "a short text was paged")
    check("paged:" not in run_on_terminal("dump", path, "--no-pager")[0], "--no-pager")
    check("paged:" not in run_on_terminal("dump", path, PAGER="")[0], "PAGER=")
    text, status = run_on_terminal("dump", "--samples", path, PAGER="head -n 1")
    check(status == 0 and text.count("\n") == 1, "a pager that leaves early:", status, text[:300])


for each in sorted(glob.glob(os.path.join(recordings_folder(), "s*/perf.data"))):
    check_width(each)
for name in "sandybridge-system-wide", "simulated-branches":
    large = os.path.join(recordings_folder(), name, "perf.data")
    if os.path.exists(large):
        check_offsets(large)
        check_colors(large)
        check_pager(large)
finish()
