# SPDX-License-Identifier: LGPL-2.1-or-later
"""How often branchctl diff --find-change finds a planted change of three points, and one where there is none.

    find-change.py BRANCHCTL SERVE-WINDOWS

TRIES=N of each, WINDOWS=N of 6,000 samples. The change is before a window at random (of the same seed in each run).
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

branchctl, serve = sys.argv[1:]
tries = int(os.environ.get("TRIES", "100"))
windows = int(os.environ.get("WINDOWS", "360"))
seconds = []


def changes(at, seed):
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "socket")
        with subprocess.Popen([serve, path, os.path.join(place, "windows.db"), f"change:{at}:{seed}", str(windows)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdout.readline() == b"ready\n"
            begin = time.monotonic()
            output = subprocess.run([branchctl, "--socket", path, "diff", "..", "--find-change", "--json"],
                                    stdout=subprocess.PIPE, check=True).stdout
            seconds.append(time.monotonic() - begin)
            server.stdin.close()
            server.stdout.read()
    return json.loads(output)["changes"]


random.seed(1)
n_found, off, n_false = 0, [], 0
for i in range(tries):
    where = random.randrange(2, windows - 2)
    found = changes(where, i + 1)
    if found and found[0]["symbol"] == "function_0":
        off.append(abs(found[0]["window"] - 1 - where))
        n_found += off[-1] <= 2
    n_false += bool(changes(0, i + 1))
print(f"{windows} windows; of {tries} changes {n_found} found within two windows, {len(off)} at all, "
      f"off by {statistics.median(off)} windows (median), {max(off)} at most; "
      f"in {tries} steady spans {n_false} changes; {statistics.median(seconds):.3f} s each (median)")
