# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the command line share: running branchctl, counting what went wrong."""

import os
import signal
import subprocess
import sys

SKIPPED = 77
VIEWS = ["function", "stack", "stream", "branch", "branch-site", "block", "line", "object", "process", "unit", "comm",
         "container", "user"]
RECORDED_VIEWS = [by for by in VIEWS if by not in ("unit", "container", "user")]

# What a shell runs in the background ignores the one, what nohup runs ignores the other, and so would the commands that
# tests interrupt.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

branchctl = os.path.abspath(sys.argv[1])
_failures = 0


def run(*arguments, **environment):
    """branchctl with these arguments: status, stdout, stderr as text."""
    env = dict(os.environ, LC_ALL="C.UTF-8", **environment)
    done = subprocess.run([branchctl, *map(str, arguments)], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def check(condition, *what):
    """Counts a failure, and says what it was."""
    global _failures
    if not condition:
        _failures += 1
        print("FAILED:", *what)
    return condition


def one_line(text):
    """Is it one line of branchctl's, and nothing else?"""
    return text.startswith("branchctl: ") and text.count("\n") == 1 and text.endswith("\n")


def recordings_folder():
    """Set by recordings/with-recordings."""
    return os.environ["BRANCHD_RECORDINGS"]


def finish():
    print(_failures, "failed")
    sys.exit(1 if _failures else 0)
