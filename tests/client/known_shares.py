# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shares that are known by construction: known_shares.py BRANCHCTL BRANCHD TWO-PHASES.

What `./quickstart run` shows, checked: the daemon samples a program whose functions take turns on the
CPU's clock, in a control group of its own where this machine lets one be made.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from real_daemon import closed_windows, document, start, stop, wait_for_window_after
from harness import check, finish, run

BRANCHD, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[2:4])
SECONDS = 5  # of each phase
# red has half of the first phase and three quarters of the second
EXPECTED = {"red": 62.5, "blue": 37.5}
POINTS = 3
HIERARCHIES = ["/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"]


def make_groups(name):
    """The directories made; none where it is a service manager's or the kernel's to say no."""
    groups = []
    if os.path.isdir("/run/systemd/system"):
        return groups
    for hierarchy in HIERARCHIES:
        if os.path.exists(hierarchy + "/cgroup.procs"):
            try:
                os.mkdir(f"{hierarchy}/{name}")
                groups.append(f"{hierarchy}/{name}")
            except OSError as error:
                print("no group in", hierarchy, error)
    return groups


def enter(groups):
    for group in groups:
        with open(group + "/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))


def check_shares(socket, pid):
    top = document(socket, "top", "1..", "--pid", pid, "-n", "0")
    # of the two: what else is done for them, here and in the kernel, is for the machine to say
    own = {row["symbol"]: row["self"] for row in top["rows"]
           if os.path.basename(row["object"] or "") == "two-phases" and row["symbol"] in EXPECTED}
    samples = sum(own.values())
    shares = {symbol: 100 * n / samples for symbol, n in own.items()}
    print(top["totals"]["samples"], "samples,", samples, "of them in the two:",
          {name: shares.get(name) for name in EXPECTED})
    # where it looks at the clock, if it was sampled there
    names = [row["symbol"] for row in top["rows"] if row["object"] == "[vdso]"]
    check(None not in names, "of the vdso:", names)
    # 10 s at 997 Hz, if nobody else wants the CPU
    check(top["totals"]["samples"] > 1000, "too few samples:", top["totals"]["samples"])
    for name, percent in EXPECTED.items():
        check(abs(shares.get(name, 0) - percent) <= POINTS, name, shares.get(name), "is not", percent)


def check_process(socket, pid, unit):
    mine = "top", "1..", "--pid", pid, "--comm", "two-phases"
    processes = document(socket, *mine, "--by", "process")["rows"]
    check([row["pid"] for row in processes] == [pid], processes)
    units = [row["unit"] for row in document(socket, *mine, "--by", "unit")["rows"]]
    print("unit:", units)
    if unit:
        check(units == [unit], units, "is not", unit)
        members = document(socket, "top", "1..", "--unit", unit, "--by", "process")["rows"]
        check({row["pid"] for row in members} == {pid}, members)


def samples_of(socket, window, pid):
    """0 where the window has nothing of the process, of which the exit status tells."""
    status, out, err = run("--socket", socket, "top", window, "--pid", pid, "--json")
    samples = json.loads(out)["totals"]["samples"]
    check(status == (0 if samples else 1), window, status, samples, err)
    return samples


def check_diff(socket, pid):
    """Of windows in the first phase and in the second, which are half of its CPU time each: what got dearer is named."""
    counts = {window["id"]: samples_of(socket, window["id"], pid) for window in closed_windows(socket)}
    whole, before, old, new = sum(counts.values()), 0, [], []
    for number, samples in counts.items():
        if samples and before + samples <= 0.47 * whole:
            old.append(number)
        if samples and before >= 0.53 * whole:
            new.append(number)
        before += samples
    if not check(old and new, "windows with the program:", counts):
        return
    changes = document(socket, "diff", f"{old[0]}..{old[-1]}", f"{new[0]}..{new[-1]}", "--pid", pid)
    dearer = max(changes["functions"], key=lambda row: row["delta_percent"])
    print(changes["summary"], "dearer:", dearer["new"]["symbol"], dearer["delta_percent"], dearer["interval"])
    check(dearer["new"]["symbol"] == "red" and dearer["significant"], dearer)


with tempfile.TemporaryDirectory() as state:
    branchd, path = start(BRANCHD, state)
    made = make_groups(f"branchd-shares-{os.getpid()}.service")
    with subprocess.Popen([TWO_PHASES, str(SECONDS)], preexec_fn=lambda: enter(made)) as program:
        program.wait()
    wait_for_window_after(path, time.time())
    check_shares(path, program.pid)
    check_process(path, program.pid, os.path.basename(made[0]) if made else None)
    check_diff(path, program.pid)
    for directory in made:
        os.rmdir(directory)
    stop(branchd)
finish()
