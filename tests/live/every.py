# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports of one period after the other: every.py BRANCHD BRANCHCTL TWO_PHASES. Needs root and BPF, and is skipped
without.

A program begins after the first report and ends before the last one: the reports together have its samples, neither
more nor less, function by function, as the windows have them; and so have those of run --every.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from service import PATIENCE, Failures, ask, parameters_of, running, samples

WINDOW = 2  # seconds, so that windows close in the middle of periods
BRANCHD, BRANCHCTL, TWO_PHASES = (os.path.abspath(path) for path in sys.argv[1:4])
NAME = f"every-{os.getpid()}"  # of the program: other tests run it, too


def check(failures, holds, *what):
    failures.check(holds, " ".join(map(str, what)))


def top(path, *arguments):
    output = subprocess.run([BRANCHCTL, "--socket", path, "top", "--json", *arguments], stdout=subprocess.PIPE, check=False)
    return json.loads(output.stdout)


def counts(documents):
    """Self samples by function, of all together."""
    result = collections.Counter()
    for document in documents:
        for row in document["rows"]:
            result[row["symbol"], row["object"]] += row["self"]
    return +result


def every(path, *arguments):
    return subprocess.Popen([BRANCHCTL, "--socket", path, "top", "--every=700ms", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def wait_until_closed(path, since):
    """Until the windows that were open at the time @since have come."""
    for _ in range(PATIENCE):
        try:
            windows = parameters_of(ask(path, "ListWindows", {}))["windows"]
        except OSError:  # it starts
            windows = []
        if any(not window["open"] and window["start_us"] / 1e6 > since for window in windows):
            return
        time.sleep(0.5)


def check_sums(failures, path, program):
    reports = every(path, "--json", "--comm", NAME)
    time.sleep(2)
    check(failures, subprocess.run([program, "3"], check=False).returncode == 0, program, "failed")
    ended = time.time()
    wait_until_closed(path, ended)
    reports.send_signal(signal.SIGINT)
    output, errors = reports.communicate(timeout=60)
    check(failures, reports.returncode == 0, "exit status", reports.returncode, errors)
    lines = [json.loads(line) for line in output.splitlines()]
    check(failures, len(lines) >= 4, "reports:", len(lines))
    whole = top(path, "-10min", "--comm", NAME)
    check(failures, counts([whole]) == counts(lines), "windows:", counts([whole]), "reports:", counts(lines))
    n = sum(line["totals"]["samples"] for line in lines)
    check(failures, n == whole["totals"]["samples"] and n > 100, "samples", n, whole["totals"]["samples"])
    spans = [(line["windows"][0]["start"], line["windows"][0]["length"]) for line in lines]
    for (start, length), (following, _) in zip(spans, spans[1:]):
        check(failures, abs(start + length - following) < 1e-3, "periods do not follow each other:", spans)


def check_process(failures, path):
    """Reports end with the process; backtraces of functions above a limit alone."""
    with subprocess.Popen([TWO_PHASES, "2"]) as program:
        reports = every(path, "--pid", str(program.pid), "--by", "stack", "--percent-limit", "40")
        output, errors = reports.communicate(timeout=120)
    check(failures, reports.returncode == 0 and program.returncode == 0, "the end of", program.pid, errors)
    check(failures, len(re.findall(r"^[-0-9: ]+ to [-0-9: ]+: \d+ of all \d+ samples?, \d+ missing$", output, re.M)) >= 3, output)
    check(failures, re.search(r"^(red|blue) \(two-phases\): leaf", output, re.M), "no function with its backtraces:", output)
    shares = [float(share) for share in re.findall(r"leaf \d+ of \d+ samples, ([0-9.]+) %", output)]
    check(failures, shares and min(shares) >= 40, "shares:", shares)


def check_run(failures, path):
    for options in [], ["--self"]:
        command = [BRANCHCTL, "--socket", path, "run", "-o", "-", "--every=800ms", "-n", "0", *options, "--", TWO_PHASES, "4"]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        reports = re.findall(r" to [-0-9: ]+: (\d+)", output.stdout)
        check(failures, output.returncode == 0 and reports, *command, output.stdout, output.stderr)
        whole = re.search(r"^two-phases.*?: (\d+) samples|: (\d+) samples of ", output.stdout, re.M)
        check(failures, whole and sum(map(int, reports)) <= int(whole[1] or whole[2]), "more than all:", output.stdout)
        check(failures, sum(map(int, reports)) > 0, "no samples in the reports:", output.stdout)


def check_restart(failures, path, daemon):
    """The daemon is killed, and begins anew: both is said once, and reports go on. It goes for good: so do the reports."""
    reports = every(path, "-n", "1")
    check(failures, " to " in reports.stdout.readline(), "no report before it went")
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    time.sleep(2)
    check(failures, reports.poll() is None, "it did not wait for the daemon")
    another = subprocess.Popen(daemon.args)
    try:
        wait_until_closed(path, time.time())
        time.sleep(3)
        reports.send_signal(signal.SIGTERM)
        output, errors = reports.communicate(timeout=60)
        check(failures, reports.returncode == 0, "exit status", reports.returncode)
        check(failures, errors.count("waits for the daemon") == 1, errors)
        # the open window, and on a busy machine one that was not stored yet
        check(failures, len(re.findall(r"samples of [12] windows? are missing", errors)) == 1, errors)
        check(failures, re.search(r": [1-9]\d* samples?, ", output), "no samples of the second daemon:", output)
        reports = every(path, "-n", "1")
        check(failures, " to " in reports.stdout.readline(), "no report of the second daemon")
    finally:
        another.kill()
        another.wait()
    reports.send_signal(signal.SIGINT)
    errors = reports.communicate(timeout=60)[1]
    check(failures, reports.returncode == 1 and errors.startswith("branchctl: "), reports.returncode, errors)


def main():
    if os.geteuid() != 0:
        print("skipped: sampling the machine needs root")
        return 77
    failures = Failures()
    with running(BRANCHD, "every", WINDOW) as (daemon, place, path):
        if not samples(path):
            print("skipped: this machine cannot be sampled")
            return 77
        check_sums(failures, path, shutil.copy(TWO_PHASES, os.path.join(place, NAME)))
        check_process(failures, path)
        check_run(failures, path)
        check_restart(failures, path, daemon)
    return 1 if failures else 0


sys.exit(main())
