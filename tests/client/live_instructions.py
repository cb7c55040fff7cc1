# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live view's instructions of a real program: live_instructions.py BRANCHCTL BRANCHD TWO-PHASES.

They are those of the build that runs, also when another file has got its name; the view begins at the hottest one,
and what it says of an address is what objdump says.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import SKIPPED, branchctl, check, finish
from real_daemon import document, start, stop
from tmux import Terminal, is_reversed

BRANCHD, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[2:4])
SECONDS = 300  # of a phase; it is ended before


def instructions_of(path, symbol):
    """Address to mnemonic, by objdump."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", path],
                          check=True, capture_output=True).stdout.decode()
    return {int(address, 16): name for address, name in re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)}


def shown_line(terminal):
    """The line at the cursor: its address and mnemonic, or None."""
    for line in reversed(terminal.text("-e").splitlines()):
        found = re.search(r"\b([0-9a-f]{3,16}) +([a-z]\w*)\b", line) if is_reversed(line) else None
        if found:
            return int(found[1], 16), found[2]
    return None


def check_instructions(terminal, paths, real):
    """In red(), which is the hottest; its file runs from two paths, and is one, by one of them: which?"""
    found = []
    terminal.waits(lambda text: "[instructions]" in text and
                   found.extend(path for path in paths if "\nred\nin " + path in text) or found,
                   "no instructions of red() in one of", paths)
    shown = []  # as it was seen: the screen may be drawn anew a moment later
    terminal.waits(lambda _: shown.extend(filter(None, [shown_line(terminal)])) or shown, "no instruction at the cursor")
    address, name = shown[0] if shown else (0, "")
    check(real.get(address) == name, f"{address:x} is", real.get(address), "and shown as", name)
    terminal.press("Down")
    terminal.waits(lambda _: shown_line(terminal) != (address, name), "the cursor stays")
    return address, (found or paths)[0]


def check_hottest(socket, path, address):
    """What the view begins at has samples; more were taken since, so which one has most is not certain."""
    rows = document(socket, "annotate", "red", "..", "--object", path)["instructions"]
    samples = {int(row["at"]["address"], 16): row["samples"] for row in rows}
    check(samples.get(address, 0) > 0, f"{address:x} is not hot:", samples)


def check_program(socket, folder):
    path, twin = (os.path.join(folder, name) for name in ("spinner", "twin"))
    for each in path, twin:
        shutil.copy(TWO_PHASES, each)
    real = instructions_of(path, "red")
    check(len(real) > 5, "objdump shows no red()")
    with subprocess.Popen([twin, str(SECONDS)], stdout=subprocess.DEVNULL) as other, \
         subprocess.Popen([path, str(SECONDS)], stdout=subprocess.DEVNULL) as program, \
         Terminal([branchctl, "--socket", socket, "top", "--pid", str(program.pid)], columns=120, rows=40) as terminal:
        terminal.shows("red", "blue")
        terminal.answer("/", "symbol=red")
        terminal.shows_not("blue")
        terminal.press("Home", "a")
        address, shown = check_instructions(terminal, (path, twin), real)
        check_hottest(socket, shown, address)
        terminal.press("Escape")
        shutil.copy("/bin/true", path + ".new")
        os.rename(path + ".new", path)
        terminal.shows("[function]")
        terminal.press("a")
        check_instructions(terminal, (path, twin), real)
        terminal.press("q")
        terminal.shows("ended with 0")
        program.kill()
        other.kill()


if not shutil.which("objdump") or not shutil.which("tmux"):
    print("skipped: objdump or tmux is not installed")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as copies:
    os.chmod(copies, 0o755)
    branchd, path_of_socket = start(BRANCHD, state)
    check_program(path_of_socket, copies)
    stop(branchd)
finish()
