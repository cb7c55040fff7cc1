# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd attacked by a user who may do nothing: hostile.py ROW BRANCHD BRANCHCTL PROGRAM...

ROW may be several with commas between, or "all".
"""
import os
import signal
import sys

from rows import ROWS
from trial import Trial

SKIPPED = 77
TRIES = int(os.environ.get("TRIES", "4"))  # a failed row is run again, because machines are busy


def attempt(name, branchd, branchctl, programs):
    attack, options = ROWS[name]
    trial = Trial(branchd, branchctl, programs, **options)
    if not trial.run(attack):
        print("skipped: branchd does not sample here:", *trial.notes)
        sys.exit(SKIPPED)
    print(f"{name}:", *trial.notes, sep="\n    ")
    for failure in trial.failures:
        print("    FAILED:", failure)
    sys.stdout.flush()
    return not trial.failures


def main():
    name, branchd, branchctl, *programs = sys.argv[1:]
    if os.geteuid():
        print("skipped: only root can run programs of several users")
        sys.exit(SKIPPED)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of the clean-up
    programs = {os.path.basename(path): os.path.abspath(path) for path in programs}
    names = list(ROWS) if name == "all" else name.split(",")
    failed = [n for n in names if not any(attempt(n, branchd, branchctl, programs) for _ in range(TRIES))]
    print(len(failed), "rows failed:", *failed)
    sys.exit(1 if failed else 0)


main()
