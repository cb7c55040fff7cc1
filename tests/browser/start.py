# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starting a browser, or skipping the test where that is not possible."""

import shutil
import signal
import sys

from harness import SKIPPED

SECONDS = 120  # for its first answer


def skip(*why):
    print(*why)
    sys.exit(SKIPPED)


def _give_up(*_):
    raise TimeoutError("no answer")


def start(kind, folder):
    """A browser of this class that answers."""
    if not shutil.which(kind.program):
        skip(kind.program, "is not installed")
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(SECONDS)
    try:
        return kind(folder)
    except (OSError, EOFError) as error:  # a TimeoutError is an OSError
        return skip(kind.program, "does not start here:", error)
    finally:
        signal.alarm(0)
