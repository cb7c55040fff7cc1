#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether what CaptureShare= and HotShare= estimate is within its stated interval of the truth.

    capture-share.py BRANCHD BRANCHCTL KNOWN [WINDOWS [SHARE [HOT]]]   as root

KNOWN is built from this folder's known-stacks.c: its functions have parts of its time that it measures itself by its
clock and prints. Each window of a second is a run of the experiment. Prints how often the interval of 95 % of a
function's and of a stack's share of the program has the truth in it, and by how much fewer samples were captured.

The intervals are Wilson's of as many independent samples as top's design effects say: of a function all its samples
count, of a stack those captured.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

branchd, branchctl, known = (os.path.abspath(path) for path in sys.argv[1:4])
windows = int(sys.argv[4]) if len(sys.argv) > 4 else 200
share = sys.argv[5] if len(sys.argv) > 5 else "15%"
hot = sys.argv[6] if len(sys.argv) > 6 else "0"


def ask(socket, *arguments):
    answer = subprocess.run([branchctl, "--socket", socket, "--json", *arguments], capture_output=True, check=True)
    return json.loads(answer.stdout)


def wilson(part, n, z=1.959964):
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(part * (1 - part) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


with tempfile.TemporaryDirectory() as folder:
    config, socket = folder + "/c.conf", folder + "/socket"
    with open(config, "w", encoding="ascii") as f:
        f.write(f"[Sampling]\nMode=software\nFrequency=997\nCpuBudget=infinity\nCaptureShare={share}\nHotShare={hot}\n[Store]\nWindowSec=1s\n")
    daemon = subprocess.Popen([branchd, "--config", config, "--state-directory", folder, "--socket", socket])
    time.sleep(2)
    with subprocess.Popen([known, str(windows + 6)], stdout=subprocess.PIPE) as program:
        truth = json.loads(program.communicate()[0])
    time.sleep(3)
    counts = ask(socket, "status")["samples"]
    rows = []
    for window in ask(socket, "windows")["windows"]:
        if window["open"]:
            continue
        try:
            functions = ask(socket, "top", str(window["id"]), "--pid", str(program.pid), "-n", "0")
            stacks = ask(socket, "top", str(window["id"]), "--pid", str(program.pid), "--by", "stack", "-n", "0")
        except subprocess.CalledProcessError:
            continue
        own = {row["symbol"]: row["self"] for row in functions["rows"] if row["symbol"] in truth["functions"]}
        effects = {row["symbol"]: row.get("self_design_effect", 1) for row in functions["rows"]}
        paths = {}
        for row in stacks["rows"]:
            frames = [frame["symbol"] for frame in row["frames"]][:2]
            if frames[0] in truth["functions"] and len(frames) == 2 and frames[1]:  # else the caller is not known
                path = "<".join(frames)
                paths[path] = paths.get(path, 0) + row["samples"]
                effects.setdefault(path, row.get("design_effect", 1))  # the path's hottest row comes first
        if sum(own.values()) > 300:  # the CPU may have been somebody else's
            rows.append((own, paths, effects))
    daemon.terminate()
    daemon.wait()

print(f"{len(rows)} windows; of {counts['taken']} samples {counts['ticked']} were ticks: "
      f"{counts['taken'] / (counts['taken'] - counts['ticked']):.1f} times fewer captures")
for what, index in (("functions", 0), ("stacks", 1)):
    hits = tries = 0
    for name, part in truth[what].items():
        inside = off = 0
        for row in rows:
            n = sum(row[0].values())
            measured = row[index].get(name, 0) / n
            low, high = wilson(measured, n / row[2].get(name, 1))
            inside += low <= part <= high
            off += measured - part
        print(f"    {name}: {100 * part:.2f} %, measured {100 * (part + off / len(rows)):.2f} %, "
              f"within its interval in {100 * inside / len(rows):.1f} % of the windows")
        hits, tries = hits + inside, tries + len(rows)
    print(f"{what}: {100 * hits / tries:.1f} % of {tries} intervals have the truth in them")
