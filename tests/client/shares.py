# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shares that are known by construction: shares.py BRANCHCTL BRANCHD TWO-PHASES.

What `./quickstart run` shows, checked: the daemon samples a program whose functions take turns on the
CPU's clock, in a control group of its own where this machine lets one be made.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from support import SKIPPED, check, finish, run

BRANCHD, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[2:4])
SECONDS = 5  # of each phase
# red has half of the first phase and three quarters of the second
EXPECTED = {"red": 62.5, "blue": 37.5}
POINTS = 3
HIERARCHIES = ["/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"]


def start(folder):
    config = os.path.join(folder, "branchd.conf")
    socket = os.path.join(folder, "io.branchd")
    with open(config, "w", encoding="ascii") as file:
        file.write("[Sampling]\nFrequency=997\n[Store]\nWindowSec=2s\n")
    daemon = subprocess.Popen([BRANCHD, "--config", config, "--state-directory", folder, "--socket",
                               socket], stderr=subprocess.PIPE)
    for _ in range(300):
        status, out, _ = run("--socket", socket, "status", "--json")
        if status == 0 and json.loads(out)["sampling"]["running"]:
            return daemon, socket
        if status == 0 or daemon.poll() is not None:
            break
        time.sleep(0.1)
    daemon.terminate()
    print("skipped: branchd does not sample here:", daemon.communicate()[1].decode())
    sys.exit(SKIPPED)


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


def document(socket, *arguments):
    status, out, err = run("--socket", socket, *arguments, "--json")
    check(status == 0, arguments, status, err)
    return json.loads(out) if status == 0 else {}


def check_shares(socket, pid):
    top = document(socket, "top", "1..", "--pid", pid, "-n", "0")
    # of its own code: what the kernel does meanwhile is for the machine to say
    own = [row for row in top["rows"] if os.path.basename(row["object"] or "") == "two-phases"]
    samples = sum(row["self"] for row in own)
    shares = {row["symbol"]: 100 * row["self"] / samples for row in own}
    print(top["totals"]["samples"], "samples,", samples, "of them in the program:",
          {name: shares.get(name) for name in EXPECTED})
    # the program looks at the clock all the time
    names = [row["symbol"] for row in top["rows"] if row["object"] == "[vdso]"]
    check(names and None not in names, "of the vdso:", names)
    # 10 s at 997 Hz, if nobody else wants the CPU
    check(top["totals"]["samples"] > 1000, "only so many samples:", top["totals"]["samples"])
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


with tempfile.TemporaryDirectory() as state:
    branchd, path = start(state)
    made = make_groups(f"branchd-shares-{os.getpid()}.service")
    with subprocess.Popen([TWO_PHASES, str(SECONDS)], preexec_fn=lambda: enter(made)) as program:
        program.wait()
    time.sleep(4)  # two windows: what it did is in them
    check_shares(path, program.pid)
    check_process(path, program.pid, os.path.basename(made[0]) if made else None)
    for directory in made:
        os.rmdir(directory)
    branchd.terminate()
    branchd.communicate()
    check(branchd.returncode == 0, "branchd ended with", branchd.returncode)
finish()
