# SPDX-License-Identifier: LGPL-2.1-or-later
"""How soon stacks are complete after a start, with unwind tables on disk and without:
first-tables.py BRANCHD BRANCHCTL SOURCE.

Programs of every kind run all the time: perl, python3, xz, sqlite3, gcc. The daemon starts with an empty state
directory, and again with the tables that are there now, ROUNDS times. Stacks that end are counted ten times a
second. Needs root, and an otherwise quiet machine.

    ROUNDS=3 first-tables.py build/daemon/branchd build/client/branchctl daemon/config.c
"""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BRANCHD, BRANCHCTL, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = int(os.environ.get("SECONDS_EACH", "20"))
ENDS = ("complete", "no_table", "stack_bytes", "no_return_address", "invalid_frame", "depth_limit")
ENOUGH = 0.99

LOAD = [
    "exec perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(18) while 1'",
    "exec python3 -c 'f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)\nwhile True: f(18)'",
    'while :; do head -c 4000000 "$BRANCHD" | xz -2 -c >/dev/null; done',
    "while :; do echo 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 300000) "
    "SELECT count(DISTINCT x % 977) FROM c;' | sqlite3 >/dev/null; done",
    'while :; do gcc -O2 -c "$SOURCE" -I"$TOP" -o /dev/null 2>/dev/null; done',
]


def start_load():
    environment = dict(os.environ, BRANCHD=BRANCHD, SOURCE=SOURCE, TOP=os.path.dirname(os.path.dirname(SOURCE)))
    return [subprocess.Popen(["sh", "-c", text], start_new_session=True, env=environment,
                             stderr=subprocess.DEVNULL) for text in LOAD]


def stop_load(load):
    for process in load:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ask(place):
    result = subprocess.run([BRANCHCTL, "--socket", place + "/socket", "status", "--json"], capture_output=True)
    return json.loads(result.stdout)["stacks"] if result.returncode == 0 else None


def share(now, before):
    ended = sum(now[name] - before[name] for name in ENDS)
    return (now["complete"] - before["complete"]) / ended if ended else 0


def watch(place, begin):
    """Seconds from which on 99 % of each second's stacks are complete, or None; and the last counts."""
    seen, enough = [], None
    while time.monotonic() < begin + SECONDS:
        counts = ask(place)
        if counts:
            seen.append((time.monotonic() - begin, counts))
            recent = next((old for at, old in seen if at > seen[-1][0] - 1), seen[0][1])
            if share(counts, recent) < ENOUGH:
                enough = None
            elif enough is None:
                enough = seen[-1][0]
        time.sleep(0.1)
    return enough, seen[-1][1]


def run(place):
    config = place + "/branchd.conf"
    with open(config, "w", encoding="ascii") as f:
        f.write("[Sampling]\nMode=software\nUserStacks=tables\nCpuBudget=infinity\n")
    begin = time.monotonic()
    daemon = subprocess.Popen([BRANCHD, "--config", config, "--state-directory", place + "/state",
                               "--socket", place + "/socket"], stderr=subprocess.DEVNULL)
    try:
        return watch(place, begin)
    finally:
        daemon.terminate()
        daemon.wait()


def report(name, rows):
    times = [enough if enough is not None else float("inf") for enough, _ in rows]
    complete = [100 * share(last, dict.fromkeys(ENDS, 0)) for _, last in rows]
    disk = rows[-1][1]["disk"]
    print(f"{name}: 99 % complete after {statistics.median(times):.1f} s ({min(times):.1f} to {max(times):.1f}); "
          f"of {SECONDS} s {statistics.median(complete):.1f} % complete; {disk['found']} tables found, "
          f"{disk['built']} built, {disk['bytes'] / 2**20:.1f} MiB on disk")


def main():
    if os.geteuid() != 0:
        print("needs root")
        return 77
    load, rows = start_load(), {"empty": [], "kept": []}
    try:
        for _ in range(ROUNDS):
            place = tempfile.mkdtemp(prefix="branchd-tables-")
            for name in rows:
                rows[name].append(run(place))
            shutil.rmtree(place)
    finally:
        stop_load(load)
    for name, each in rows.items():
        report(name, each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
