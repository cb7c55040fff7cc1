# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl run without the daemon: commands that end well, fail, fork, are killed, and are interrupted.

Also as an unprivileged user.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

from commands import LIMIT, SPIN, check_file, check_interrupted, check_not_run, check_other_user, check_report
from harness import SKIPPED, branchctl, check, finish, one_line, run
from terminal_session import TERMINAL, run_on_terminal

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
SEQUENCE = re.compile(r"\033\[[0-9;]*m")
BY_ITSELF = "sampled by branchctl at 997 Hz, user code alone\n"


def check_statuses():
    status, out, err = run("run", "-o", "-", "--self", "--", "sh", "-c", "echo before; " + SPIN)
    if "perf events" in err:
        print("skipped:", err)
        sys.exit(SKIPPED)
    check(status == 0 and out.startswith("before\n" + BY_ITSELF + "sh: "), status, out, err)
    check_report(out, "a loop", BY_ITSELF)
    rows = out.split("Functions")[1].split("Stacks")[0].splitlines()
    check(sum("%" in row for row in rows) > 3, "functions:", rows)
    few = run("run", "-o", "-", "--self", "-n", "1", "--", "sh", "-c", SPIN)[1].split("Functions")[1].split("Stacks")[0]
    check(few.count("%") == 2 and "more" in few, "-n 1 shows", few)
    status, out, err = run("run", "-o", "-", "--self", "--", "sh", "-c", SPIN + "; exit 7")
    check(status == 7, "status of a failure", status, err)
    check_report(out, "a failure", BY_ITSELF)
    status, out, err = run("run", "-o", "-", "--self", "--", "sh", "-c", SPIN + "; kill -9 $$")
    check(status == 128 + signal.SIGKILL, "status of what was killed", status, err)
    check_report(out, "what was killed", BY_ITSELF)
    status, out, err = run("run", "-o", "-", "--self", "--", "sleep", "0.01")
    check(status == 0 and ("s of CPU time" in out or "Functions" in out), "what needs no CPU time", status, out, err)


def check_places():
    """The report is not among what the command writes into a pipe, and -o says where it is."""
    status, out, err = run("run", "--self", "--", "sh", "-c", "echo before; " + SPIN)
    check(status == 0 and out == "before\n", "output of the command:", status, out)
    check_report(err, "on standard error", BY_ITSELF)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        status, out, err = run("run", "--self", "-o", path, "--", "sh", "-c", "echo before; " + SPIN + "; exit 3")
        check(status == 3 and out == "before\n" and "Functions" not in err, "with -o:", status, out, err)
        with open(path, encoding="utf-8") as file:
            check_report(file.read(), "a file", BY_ITSELF)
        status, out, err = run("run", "--self", "-o", os.path.join(folder, "none", "report"), "--", "echo", "before")
        check(status == 1 and not out and one_line(err), "a folder that is not there:", status, out, err)


def check_terminal():
    """On standard error, which is a terminal, as on standard output; but no pager waits for a key."""
    for columns in 40, 100:
        text, status = run_on_terminal("run", "--self", "--", "sh", "-c", SPIN, stdout=subprocess.DEVNULL, stderr=TERMINAL,
                                       columns=columns)
        rows = [line for line in SEQUENCE.sub("", text).splitlines() if "%" in line]
        check(status == 0 and rows and SEQUENCE.search(text) and "paged:" not in text, "on a terminal:", status, text)
        check(max(map(len, rows)) <= columns, "too wide for", columns, rows)


def check_children():
    work = "n = 0\nfor i in range(3000000): n += i"
    status, out, err = run("run", "-o", "-", "--self", "--", "sh", "-c", '"$0" -c "$1" & wait; exit 3', sys.executable, work)
    check(status == 3 and "python" in out, "samples of the child:", status, out, err)


def check_refused():
    for arguments in ["run"], ["run", "--"], ["run", "ls"], ["run", "ls", "--", "ls"], ["run", "--json", "--", "ls"], \
            ["run", "--by", "stack", "--", "ls"]:
        status, out, err = run(*arguments)
        check(status == 2 and not out and one_line(err), arguments, status, out, err)
    status, out, err = run("run", "-o", "-", "--self", "--", "true", TMPDIR="/not/there")
    check(status == 1 and not out and one_line(err) and "TMPDIR" in err, status, out, err)


def check_unprivileged():
    with open(PARANOID, encoding="ascii") as file:
        allowed = int(file.read()) <= 2
    if os.geteuid() != 0:
        return
    done = subprocess.run([branchctl, "run", "-o", "-", "--self", "--", "sh", "-c", SPIN], user=65534, group=65534,
                          extra_groups=[], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False, cwd="/")
    if allowed:
        check(done.returncode == 0, "unprivileged:", done.returncode, done.stderr)
        check_report(done.stdout.decode(), "unprivileged", BY_ITSELF)
        check_other_user("--self")
    else:
        check(done.returncode == 1 and b"perf_event_paranoid" in done.stderr, done.stderr)


check_statuses()
check_places()
check_terminal()
check_children()
check_interrupted(BY_ITSELF, "--self")
check_file("--self")
check_not_run(os.getcwd(), "--self")
check_refused()
check_unprivileged()
finish()
