# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings of `perf record --call-graph dwarf`: branchctl beside perf report, and their frames.

    user-stacks.py BRANCHCTL [--samples N] [--rounds N] [--keep FILE] [--recording FILE]

Records perl, sqlite3, python3 and gcc with 8 KiB of stack a sample, as long as it takes for N
samples (100,000; some 850 MB in TMPDIR). Then the commands run in turns. CPU time is that of all
processes of a command, so it includes branchctl's parser.

Frames: where perf script has a frame that branchctl lacks, it is shown to be wrong if it is no
code, or if the call before it goes to another function than that of the frame within. What remains
is printed.
"""

import argparse
import collections
import functools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
STACK_BYTES = 8192
HEAD = re.compile(r"^\s*.+?\s+(-?\d+)/\s*(-?\d+)\s+([\d.]+):")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$")
FIELDS = "comm,pid,tid,time,event,ip,sym,symoff,dso"
PAGE = 4096
SHOWN = 20

PROGRAMS = {
    "perl": """while :; do
perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(22)'; done""",
    "python3": """while :; do python3 -c '
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
f(22); sorted(range(100000), key=lambda x: -x)'; done""",
    "sqlite3": """while :; do sqlite3 :memory: 'with recursive c(x) as
(select 1 union all select x + 1 from c where x < 200000)
select sum(x * x % 7), length(group_concat(x)) from c' >/dev/null; done""",
    "gcc": """while :; do echo '#include <stdio.h>
#include <stdlib.h>
int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main(int c, char **v) { printf("%d", f(atoi(v[c - 1]))); }
' | gcc -O2 -x c -c -o /dev/null -; done""",
}


def record(path, samples):
    """As often as it takes, with more seconds each time."""
    seconds = 10
    programs = [text for name, text in PROGRAMS.items() if shutil.which(name)]
    work = "trap 'kill 0' TERM; " + " ".join(f"({p}) &" for p in programs)
    while True:
        mix = f"{work} sleep {seconds}; kill -TERM 0"
        subprocess.run(["setsid", "perf", "record", "-q", "-e", "cpu-clock", "-F", "4000",
                        "-m", "4096", "--call-graph", f"dwarf,{STACK_BYTES}", "-o", path,
                        "--", "setsid", "sh", "-c", mix], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        if not os.path.exists(path):
            print("skipped: perf may not record here")
            sys.exit(SKIPPED)
        n = max(os.path.getsize(path) // (STACK_BYTES + 300), 1)
        if n >= samples or seconds > 300:
            return
        seconds = int(seconds * min(samples / n * 1.2, 20)) + 1


def measure(command):
    """Wall and CPU seconds, of all processes."""
    with tempfile.NamedTemporaryFile("r") as out:
        start = time.monotonic()
        subprocess.run(["perf", "stat", "-x", ",", "-e", "task-clock", "-o", out.name, "--",
                        "nice", "-n", "5", *command], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        wall = time.monotonic() - start
        text = next(line for line in out if "task-clock" in line)
    return wall, float(text.split(",")[0]) / 1000


def compare_times(branchctl, path, rounds):
    report = ["perf", "report", "-i", path, "--stdio", "--call-graph"]
    commands = {
        "branchctl top": [branchctl, "top", path],
        "perf report --call-graph": report,
        "perf report --call-graph --no-inline": [*report, "--no-inline"],
    }
    best = {name: (float("inf"), float("inf")) for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            best[name] = tuple(map(min, best[name], measure(command)))
    own = best["branchctl top"]
    print(f"{'wall s':>8} {'CPU s':>8} {'times as fast, wall and CPU':>28}")
    for name, (wall, cpu) in best.items():
        print(f"{wall:8.2f} {cpu:8.2f} {wall / own[0]:14.1f} {cpu / own[1]:13.1f}  {name}")


def parse(command):
    """Lists of (address, offset in the function, object, function), by thread and time."""
    samples, frames = collections.defaultdict(list), None
    out = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    for line in out.splitlines():
        head, frame = HEAD.match(line), FRAME.match(line)
        if frame and frames is not None:
            offset = int(frame[3], 16) if frame[3] else None
            frames.append((int(frame[1], 16), offset, frame[4], frame[2]))
        elif head:
            frames = []
            samples[head.groups()].append(frames)
    return samples


@functools.lru_cache(maxsize=None)
def read(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def is_wrong(within, frame):
    """Whether @frame, of perf, cannot be the caller of @within."""
    address, _, path, _ = frame
    if not path.startswith("/"):
        return path != "[vdso]"
    at = address + 1  # perf writes the byte before
    code = read(path)[at - 5:at]
    if len(code) < 5 or code[0] != 0xe8 or within[1] is None or within[2] != path:
        return False  # an indirect call, or one that leads out of the object
    target = (at + struct.unpack("<i", code[1:])[0]) % (1 << 64)
    return target != within[0] - within[1]


def same(theirs, ours):
    """perf writes the byte before a return address, and addresses in the object."""
    return (ours - theirs) % PAGE in (0, 1)


def compare_frames(branchctl, path):
    perf = parse(["perf", "script", "-i", path, "--no-inline", "--ns", "-F", FIELDS,
                  "--max-stack", "1024"])
    own = parse([branchctl, "dump", "--samples", path])
    found = collections.Counter()
    for key, stacks in perf.items():
        for theirs, ours in zip(stacks, own.get(key, [])):
            theirs = [f for f in theirs if f[0] != (1 << 64) - 1 and f[0] != 0]
            n = 0
            while n < min(len(theirs), len(ours)) and same(theirs[n][0], ours[n][0]):
                n += 1
            if n == len(theirs):
                found["equal" if n == len(ours) else "branchctl has more"] += 1
            elif n > 0 and is_wrong(theirs[n - 1], theirs[n]):
                found["perf's next frame is wrong"] += 1
            else:
                kind = "perf has more" if n == len(ours) else "other frames"
                found[kind] += 1
                if found[kind] <= SHOWN:
                    print(f"{kind}, {' '.join(key)}, after {n}:",
                          *theirs[max(n - 1, 0):n + 1], "branchctl:", *ours[n:n + 2])
    for kind, n in found.most_common():
        print(f"{n:8} {kind}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("branchctl")
    parser.add_argument("--samples", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recording", help="instead of a new one")
    parser.add_argument("--keep", help="where the recording is to stay")
    parser.add_argument("--only", choices=["times", "frames"])
    args = parser.parse_args()
    if not shutil.which("perf"):
        print("skipped: perf is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        path = args.recording or args.keep or os.path.join(folder, "perf.data")
        if not args.recording:
            record(path, args.samples)
        print(os.path.getsize(path) // (1 << 20), "MiB")
        if args.only != "frames":
            compare_times(args.branchctl, path, args.rounds)
        if args.only != "times":
            compare_frames(args.branchctl, path)


main()
