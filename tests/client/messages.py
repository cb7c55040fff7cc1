# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said of a recording made up: in one line each, and nothing a terminal would act upon."""

import os
import subprocess
import tempfile

import made
from support import branchctl, check, finish, one_line, run


def check_clean(what, text):
    check(not any(c < " " and c not in "\n\t" or c in "\x7f\ufffd" for c in text), what, repr(text))


def check_names(folder):
    """Events, programs and objects may call themselves anything."""
    path = os.path.join(folder, "names.data")
    names = b"cpu\x1b[31mX\nY", b"other\x9b31m\x1b]0;t\x07"
    made.write(path, [made.mapping(b"/tmp/\x1b[2J\x9bprogram"), made.sample(1),
                      made.sample(2, number=2)], names)
    for arguments in ["top", path], ["dump", path], ["dump", "--samples", path], \
            ["top", "--event", "none", path]:
        status, out, err = run(*arguments)
        check(status == ("none" in arguments), arguments, status, err)
        check_clean(arguments, out)
        check_clean(arguments, err)
        check(all(line.startswith("branchctl: ") for line in err.splitlines()), arguments, err)
        check("\\x1b[31mX\\x0aY" in out + err, arguments, out, err)


def check_symbols(folder):
    """Whose symbols were not found is said, once."""
    path = os.path.join(folder, "symbols.data")
    shell = os.path.realpath("/bin/sh").encode()
    samples = [made.sample(time, made.BASE + 0x100 * time) for time in range(1, 9)]
    for mapping, want in (made.mapping(b"/not/there"), "there"), \
            (made.mapping(shell, b"another build-id!!!!"), "build-id of"):
        made.write(path, [mapping] + samples)
        for arguments in ["top", path], ["dump", "--samples", path]:
            status, _, err = run(*arguments)
            check(status == 0 and one_line(err) and "no symbols of" in err and want in err, arguments,
                  status, err)
    made.write(path, [made.mapping(b"/not/there"), made.mapping(b"/nor/there", start=0x800000)] +
               samples + [made.sample(9, 0x800100)])
    for arguments in ["top", path], ["dump", "--samples", path]:
        err = run(*arguments)[2]
        check(one_line(err) and "2 objects" in err, arguments, err)


def check_reader_leaves(folder):
    """That is neither a failure nor said, with SIGPIPE ignored as well."""
    path = os.path.join(folder, "long.data")
    made.write(path, [made.sample(time, made.BASE + time) for time in range(1, 20000)])
    for arguments in ["dump"], ["dump", "--json"], ["dump", "--samples"], ["top", "--json", "-n", "0"]:
        done = subprocess.run(["sh", "-c", "trap '' PIPE; { \"$@\"; echo $? >&2; } | head -c 10", "sh",
                               branchctl, *arguments, path], capture_output=True, check=False)
        check(done.stderr == b"0\n", arguments, done)
    for arguments in ["dump"], ["dump", "--json"], ["dump", "--samples"]:
        done = subprocess.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", branchctl, *arguments, path],
                              capture_output=True, check=False)
        said = done.stderr.decode()
        check(done.returncode == 1 and one_line(said) and "No space left" in said, arguments, done)


with tempfile.TemporaryDirectory() as place:
    check_names(place)
    check_symbols(place)
    check_reader_leaves(place)
finish()
