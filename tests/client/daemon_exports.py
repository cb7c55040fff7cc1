# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl export of windows of the real branchd, while a program of known name is busy."""

import os
import subprocess
import sys
import tempfile

from real_daemon import document, start, stop, wait_for_windows
from harness import check, finish, run
from stackcollapse import Stacks

branchd = os.path.abspath(sys.argv[2])
BUSY = "while :; do :; done"


def check_exports(socket, windows, folder):
    """Two closed windows in each format: the samples are those of top, and busy is among them."""
    reference = f"{windows[-2]['id']}..{windows[-1]['id']}"
    totals = document(socket, "top", reference)["totals"]
    samples = totals["samples"]
    for name in "folded", "pprof", "otlp", "speedscope", "firefox", "perf-script", "callgrind", "html", "svg":
        file = os.path.join(folder, name)
        status, out, err = run("--socket", socket, "export", "--format", name, reference, "-o", file)
        check(status == 0 and not out and not err, name, status, err)
        check(os.path.exists(file) and os.path.getsize(file) > 0, name, "is empty")
    with open(os.path.join(folder, "folded"), encoding="utf-8") as opened:
        lines = opened.read().removesuffix("\n").split("\n")
    check(sum(int(line.rpartition(" ")[2]) for line in lines) == samples, "folded", samples)
    check(any(line.startswith("sh;") for line in lines), "busy is not in folded")
    check_script(os.path.join(folder, "perf-script"), totals, lines)


def check_script(file, totals, lines):
    """Each stack once, with its weight as the period: the sum is the weight of the windows."""
    with open(file, encoding="utf-8") as opened:
        stacks = Stacks(opened.read())
    check(not stacks.strange, "perf-script", stacks.strange[:3])
    check(stacks.weights.total() == totals["weight"], "periods", stacks.weights.total(), totals["weight"])
    check(stacks.n_stacks >= len(lines) > 1, stacks.n_stacks, "stacks,", len(lines), "lines of folded")
    print(f"windows, perf-script: periods of {stacks.n_stacks} stacks {stacks.weights.total()}, top {totals['weight']};",
          f"folded {sum(int(line.rpartition(' ')[2]) for line in lines)}, top {totals['samples']}")


with tempfile.TemporaryDirectory() as state:
    process, path = start(branchd, state)
    with subprocess.Popen(["sh", "-c", BUSY]) as busy:
        check_exports(path, wait_for_windows(path, 3), state)
        busy.kill()
    stop(process)
finish()
