# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said of a recording made up: in one line each, and nothing a terminal would act upon."""

import os
import tempfile

import made
from support import check, finish, run


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


with tempfile.TemporaryDirectory() as place:
    check_names(place)
finish()
