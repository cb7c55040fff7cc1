# SPDX-License-Identifier: LGPL-2.1-or-later
"""dump --samples beside perf script, on a recording made here: the same samples, frames and offsets.

What the manual page says is different may be: addresses of user frames, names of the kernel, names
of PLT stubs, which of several names of one address, callers that end in their call, and zeros, which are
no frames here.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import SKIPPED, check, finish, run

FIELDS = "comm,pid,tid,time,event,ip,sym,symoff,dso"
HEAD = re.compile(r"^\s*(.+?)\s+(-?\d+)/(-?\d+)\s+([\d.]+):\s+(\S+):\s*$")
FRAME = re.compile(r"^\t\s*([0-9a-f]+) (.*?)(\+0x[0-9a-f]+)? \((.*)\)$")
WORK = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; ls -lR /usr/include > /dev/null"


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def record(path):
    if not shutil.which("perf"):
        skip("perf is not installed")
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", path, "--", "sh",
                           "-c", WORK], capture_output=True)
    if not check(done.returncode >= 0, "perf record died of signal", -done.returncode):
        finish()
    if done.returncode != 0 or not os.path.exists(path):
        skip("perf may not record here: " + done.stderr.decode(errors="replace").strip())


def parse(text):
    samples = []
    for line in text.splitlines():
        head, frame = HEAD.match(line), FRAME.match(line)
        if head:
            samples.append((head.groups(), []))
        elif frame and samples:
            samples[-1][1].append(frame.groups())
        else:
            check(line == "", "neither sample nor frame:", repr(line))
    return samples


def object_of(frame):
    return frame[3].replace("[kernel.kallsyms]", "[kernel]")


def compare(ours, theirs):
    frames = same = 0
    check(len(ours) == len(theirs) > 50, len(ours), "samples, of perf", len(theirs))
    for mine, (head, frames_of_perf) in zip(ours, theirs):
        other = head, [frame for frame in frames_of_perf if frame[0] != "0" or frame[3] != "[unknown]"]
        check(mine[0] == other[0], mine[0], "is with perf", other[0])
        if not check(len(mine[1]) == len(other[1]), mine, "has other frames:", other):
            continue
        for a, b in zip(mine[1], other[1]):
            frames += 1
            same += object_of(a) == object_of(b) and (a[2] == b[2] or "@plt" in a[1])
    print(f"{frames} frames, {same} with perf's object and offset")
    check(same >= 0.95 * frames, "only", same, "of", frames, "frames as perf has them")


with tempfile.TemporaryDirectory() as folder:
    recording = os.path.join(folder, "perf.data")
    record(recording)
    script = subprocess.run(["perf", "script", "--ns", "-F", FIELDS, "-i", recording],
                            capture_output=True)
    check(script.returncode == 0, "perf script ended with", script.returncode,
          script.stderr.decode(errors="replace"))
    status, out, err = run("dump", "--samples", recording)
    check(status == 0, err)
    compare(parse(out), parse(script.stdout.decode(errors="replace")))
finish()
