# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl reads programs in branchd-parser only, and goes on where that is missing or dies."""

import os
import subprocess
import sys
import tempfile

import perfdata
from harness import branchctl, check, finish, one_line, run

READERS = ("libelf", "libdw", "liblzma", "libiberty", "libcapstone", "libbpf")


def libraries(program):
    done = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True)
    return [line.split("[")[1].rstrip("]") for line in done.stdout.splitlines() if "(NEEDED)" in line]


def recording(folder):
    """Samples of this interpreter, which surely has symbols."""
    program = os.path.realpath(sys.executable)
    path = os.path.join(folder, "perf.data")
    samples = [perfdata.sample(1000 * i, perfdata.BASE + 0x1000) for i in range(1, 20)]
    perfdata.write(path, [perfdata.mapping(program.encode()), *samples])
    return path, os.path.basename(program)


def parser(folder, text):
    path = os.path.join(folder, "branchd-parser")
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def check_without_names(path, program, folder, what):
    status, out, err = run("top", path, BRANCHD_LIBEXEC=folder)
    check(status == 0 and program in out, what, status, out, err)
    check(one_line(err) and "branchd-parser" in err, what, err)
    for arguments in (["--by", "line"], ["--by", "branch"], ["--inline"]):
        status, _, err = run("top", *arguments, path, BRANCHD_LIBEXEC=folder)
        check(status == 0 and err.count("\n") == 1, what, arguments, status, err)


for name in sys.argv[1:]:
    found = libraries(name)
    check(not [one for one in found if one.startswith(READERS)], name, found)
with tempfile.TemporaryDirectory() as place:
    data, interpreter = recording(place)
    check_without_names(data, interpreter, place, "missing")
    parser(place, "exit 1")
    check_without_names(data, interpreter, place, "ends at once")
    parser(place, "kill -9 $$")
    check_without_names(data, interpreter, place, "is killed")
finish()
