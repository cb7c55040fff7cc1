# SPDX-License-Identifier: LGPL-2.1-or-later
"""What export and flame refuse: one line that says what is wrong, exit status 2 for wrong usage, else 1, and no file."""

import os
import shutil
import tempfile

import mock_daemon
import perfdata
from harness import check, finish, one_line, run

BRANCH_FORMATS = ["bolt", "llvm-profgen", "autofdo"]
GIVE = "give folded, pprof, otlp, speedscope, firefox, perf-script, callgrind, bolt, llvm-profgen, autofdo, html, svg"

# Words of a command, its exit status, and what its line has. {x} are files, sockets and their folder.
WRONG = [
    *(("export --format " + name + " {work}", 1, f"no branch records, which {name} needs; record with perf record -b")
      for name in BRANCH_FORMATS),
    ("export --format bolt @-1", 1, "or see branchctl status"),
    ("export --format llvm-profgen @-1", 1, "no branch records, which llvm-profgen needs"),
    ("export --format autofdo @-1..@-1", 1, "no branch records, which autofdo needs"),
    ("export {work}", 2, "export needs --format and one of folded,"),
    ("export --format xml {work}", 2, f"--format 'xml': {GIVE}"),
    ("export --format= {work}", 2, GIVE),
    ("flame --format pprof {work}", 2, "--format 'pprof': give html or svg"),
    ("flame --format svg {work} --diff {other}", 2, "flame --diff has only the format html"),
    ("flame --diff {work}", 2, "flame --diff needs a WINDOW to compare with"),
    ("flame {work} --diff {other} --diff {other}", 2, "give --diff once"),
    ("flame {work} --open -o -", 2, "flame --open needs a file, not -o -"),
    ("export --format folded {work} -o ''", 2, "-o needs the path of a file"),
    ("flame {work} -o ''", 2, "-o needs the path of a file"),
    ("export --format pprof {work} -o /dev/full", 1, "/dev/full: cannot write: No space left on device"),
    ("flame {work} -o /dev/full", 1, "/dev/full: cannot write: No space left on device"),
    ("export --format svg {work} -o /dev/full", 1, "/dev/full: cannot write: No space left on device"),
    ("flame {work} --diff {other} -o /dev/full", 1, "/dev/full: cannot write: No space left on device"),
    ("export --format pprof {work} -o {folder}/no/such.pb.gz", 1, "no/such.pb.gz: cannot write: No such file or directory"),
    ("export --format speedscope {work} -o {text}/x.json", 1, "x.json: cannot write: Not a directory"),
    ("flame {work} -o {folder}", 1, "cannot write: Is a directory"),
    ("export --format folded {work} -o {work}", 1, "is the recording itself: give another file"),
    ("flame {other} --diff {work} -o {other}", 1, "is the recording itself: give another file"),
    ("export --format html {work} -o {folder}", 1, "cannot write: Is a directory"),
    ("flame {work} -o {folder}/no/such.html", 1, "no/such.html: cannot write: No such file or directory"),
    ("export --format folded {empty}", 1, "no samples: nothing to export"),
    ("export --format folded @-2", 1, "no samples: nothing to export"),
    ("export --format pprof @-2..@-2", 1, "no samples: nothing to export"),
    ("flame @-2", 1, "no samples: nothing to export"),
    ("flame @-2 --diff @-1", 1, "no samples: nothing to export"),
    ("flame @-1 --diff 4711", 1, "4711"),
    ("flame {work} --diff {text}", 1, "not a recording"),
    ("flame @-1 --diff @-2", 1, "no samples: nothing to export"),
    ("export --format folded {work} --comm nobody", 1, "nothing matches the filters; there are the processes work"),
    ("flame {work} --symbol none", 1, "nothing matches the filters; branchctl top -n 0 lists the functions there are"),
    ("flame {work} --diff {other} --comm nobody", 1, "nothing matches the filters; there are the processes work"),
    ("export --format speedscope @-1 --unit nobody", 1, "nothing matches the filters; there are the units "),
    ("export --format folded 4711", 1, "4711"),
    ("export --format folded {work} --unit demo", 2, "--unit is for windows of the daemon"),
    ("export --format folded {work} -n 3", 2, "export takes no -n"),
    ("export --format folded {work} --by stack", 2, "export takes no --by"),
    ("export --format folded {work} --diff {other}", 2, "export takes no --diff"),
    ("export --format folded {work} {other}", 2, "export takes one WINDOW, not 2"),
    ("export --format folded {folder}/none.data", 1, "No such file or directory"),
    ("export --format folded {folder}/", 1, "is a directory"),
    ("export --format folded {text}", 1, "not a recording"),
    ("flame {work} --event cycles", 1, "no event cycles in the recording; choose one of: cpu-clock"),
]


DISPLAYS = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": ""}
SHOWN = """#!/bin/sh
echo "$1" > shown
echo two lines >&2
echo of noise >&2
exit %d
"""


def check_open(folder, socket):
    """flame --open: the picture is there all the same, and the one line names it."""
    page, programs = os.path.join(folder, "page.html"), os.path.join(folder, "programs")
    os.mkdir(programs)
    for what, environment, line in (
            ("no display", DISPLAYS, "there is no display"),
            ("no xdg-open", dict(DISPLAYS, DISPLAY=":99", PATH=programs), "cannot run xdg-open: No such file or directory"),
            ("no browser", dict(DISPLAYS, WAYLAND_DISPLAY="wayland-9", PATH=programs), "found nothing that shows it"),
            ("a browser", dict(DISPLAYS, BROWSER="w3m", PATH=programs), None)):
        if "browser" in what:
            with open(programs + "/xdg-open", "w", encoding="ascii") as opened:
                opened.write(SHOWN % (3 if line else 0))
            os.chmod(programs + "/xdg-open", 0o755)
        status, out, err = run("--socket", socket, "flame", "@-1", "-o", page, "--open", **environment)
        check(os.path.getsize(page) > 1000 and out == "", what, out)
        if line:
            check(status == 1 and one_line(err) and "wrote " + page in err and line in err and
                  "open the file in a browser" in err, what, status, err)
        else:
            check(status == 0 and err == "", what, status, err)
        os.unlink(page)
    with open("shown", encoding="ascii") as opened:
        check(opened.read() == page + "\n", "xdg-open was given another file")
    shutil.rmtree(programs)
    os.unlink("shown")


def make_files(folder):
    files = {name: os.path.join(folder, name + ".data") for name in ("work", "other", "empty", "text")}
    samples = [perfdata.comm(b"work"), perfdata.mapping(b"/no/such/program"), perfdata.sample(1), perfdata.sample(2)]
    perfdata.write(files["work"], samples)
    perfdata.write(files["other"], samples)
    perfdata.write(files["empty"], samples[:2])
    with open(files["text"], "w", encoding="ascii") as opened:
        opened.write("work;main 3\n" * 50)
    return dict(files, folder=folder)


def split(words, files):
    return ["" if word == "''" else word.format(**files) for word in words.split(" ")]


with tempfile.TemporaryDirectory() as place:
    known = make_files(place)
    before = sorted(os.listdir(place))
    now = mock_daemon.recent(3)
    now[1]["samples"] = 0
    os.chdir(place)  # where flame would write
    with mock_daemon.Daemon(now) as daemon:
        for words, wanted, line in WRONG:
            status, out, err = run("--socket", daemon.path, *split(words, known))
            check(status == wanted and out == "" and one_line(err) and line in err, words, status, out, err)
        check_open(place, daemon.path)
    check(sorted(os.listdir(place)) == before, "files are left", os.listdir(place))
    check(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"), "/dev/full was replaced")
    print(len(WRONG), "wrong inputs")
finish()
