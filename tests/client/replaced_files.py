# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs whose file goes while they run: replaced_files.py BRANCHCTL BRANCHD TWO-PHASES.

As in an upgrade, another file gets the name before the daemon has looked for symbols. One has a build-id,
one has none, one loses its file altogether,
another after it has ended; each keeps its functions' names. The copies differ from each
other, lest one be known by the other.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from real_daemon import document, start, stop, wait_for_windows
from harness import SKIPPED, check, finish

BRANCHD, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[2:4])
WINDOW = 2
ENDED = "ended and deleted"  # before the window closes
CASES = {"renamed over": [], "without build-id": ["--remove-section", ".note.gnu.build-id"], "deleted": [], ENDED: []}


def make_copy(folder, name, options):
    path = os.path.join(folder, name.replace(" ", "-"))
    subprocess.run(["objcopy", *options, TWO_PHASES, path], check=True)
    if not options:
        change_build_id(path, name)
    return path


def change_build_id(path, name):
    """To one that no other file has."""
    note = path + ".note"
    subprocess.run(["objcopy", "--dump-section", ".note.gnu.build-id=" + note, path], check=True)
    with open(note, "r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(name.encode()[:8].ljust(8))
    subprocess.run(["objcopy", "--update-section", ".note.gnu.build-id=" + note, path], check=True)
    os.unlink(note)


def names_of_case(socket, folder, name, options):
    """The functions that are shown of the program whose file goes."""
    path = make_copy(folder, name, options)
    time.sleep(WINDOW - time.time() % WINDOW + 0.1)  # all of it happens within one window
    with subprocess.Popen([path, str(WINDOW)], stdout=subprocess.DEVNULL) as program:
        time.sleep(0.2)
        if name == ENDED:
            time.sleep(WINDOW / 2)
            program.kill()
            program.wait()
        if name in ("deleted", ENDED):
            os.unlink(path)
        else:
            shutil.copy("/bin/true", path + ".new")
            os.rename(path + ".new", path)
        program.wait()
    wait_for_windows(socket, len(document(socket, "windows")["windows"]) + 1)
    rows = document(socket, "top", "1..", "--pid", program.pid, "-n", "0")["rows"]
    return {row["symbol"] for row in rows if os.path.basename(path) in (row["object"] or "")}


def check_case(socket, folder, name, options):
    """Twice more where the machine was too busy for the program or the daemon to run in time."""
    tries = []
    for _ in range(3):
        tries.append(names_of_case(socket, folder, name, options))
        if {"red", "blue"} <= tries[-1]:
            return
    check(False, name, tries)


if not shutil.which("objcopy"):
    print("skipped: objcopy is not installed")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as copies:
    os.chmod(copies, 0o755)
    branchd, path_of_socket = start(BRANCHD, state)
    for case, arguments in CASES.items():
        check_case(path_of_socket, copies, case, arguments)
    stop(branchd)
finish()
