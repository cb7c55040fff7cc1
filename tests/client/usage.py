# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line itself: what is refused, how, and with which status."""

import os
import tempfile

from support import check, finish, one_line, run

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
    ["top", "--color", "blue", "./a.data"],
    ["top", "--json=yes", "./a.data"],
    ["top", "--samples", "./a.data"],
    ["top", "./a.data", "./b.data"],
    ["dump", "--by", "branch", "./a.data"],
    ["dump", "-n", "3", "./a.data"],
    ["dump", "--format", "xml", "./a.data"],
    ["dump", "--samples", "--json", "./a.data"],
    ["dump", "--inline", "./a.data"],
]

# A window of a daemon that is not there yet, or what cannot be read.
FAILURES = [
    ["top"],
    ["dump"],
    ["top", "42"],
    ["top", "@-1"],
    ["top", "yesterday"],
    ["dump", "--samples", "10:00..10:10"],
    ["top", "./not-there.data"],
    ["dump", "--samples", "./not-there.data"],
    ["top", "/"],
    ["top", "/dev/null"],
]


def check_refused():
    for status, cases in (2, WRONG_USAGE), (1, FAILURES):
        for arguments in cases:
            got, out, err = run(*arguments)
            check(got == status, arguments, "ended with", got, "not", status, err)
            check(out == "", arguments, "wrote", out)
            check(one_line(err), arguments, "said", err)


def check_places_of_options():
    """An option may stand anywhere: all of these get as far as the file that is not there."""
    for arguments in (["--by", "branch", "top", "./no.data"], ["top", "--by", "branch", "./no.data"],
                      ["top", "./no.data", "--by", "branch"], ["top", "./no.data", "--by=branch"]):
        status, _, err = run(*arguments)
        check(status == 1 and "./no.data" in err, arguments, status, err)


def check_help():
    for arguments in ["--help"], ["-h"], ["top", "--help"], ["--help", "dump"], ["--version"]:
        status, out, err = run(*arguments)
        check(status == 0 and out and not err, arguments, status, err)
        check(all(len(line) <= 80 for line in out.splitlines()), arguments, "is too wide")
    check("--by" in run("top", "--help")[1], "top --help without --by")
    check("--by" not in run("dump", "--help")[1], "dump --help with --by")


def check_name_of_a_file():
    """Who gives the bare name of a file in this folder is told how to write it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("mine", "w", encoding="ascii"):
            pass
        status, _, err = run("top", "mine")
        check(status == 1 and "./mine" in err, status, err)
        os.chdir("/")


check_refused()
check_places_of_options()
check_help()
check_name_of_a_file()
finish()
