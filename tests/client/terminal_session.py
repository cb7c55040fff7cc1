# SPDX-License-Identifier: LGPL-2.1-or-later
"""A terminal to run branchctl on."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from harness import branchctl

ROWS, COLUMNS = 24, 80
TERMINAL = object()


def read_all(descriptor):
    data = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # the last one has left the terminal
            return data.decode(errors="replace").replace("\r\n", "\n")
        if not part:
            return data.decode(errors="replace")
        data += part


def run_on_terminal(*arguments, stdout=TERMINAL, stderr=subprocess.DEVNULL, columns=COLUMNS, **environment):
    """What the terminal got, and the exit status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm", PAGER="sed s/^/paged:/")
    env.pop("NO_COLOR", None)
    env.update(environment)
    env = {name: value for name, value in env.items() if value is not None}
    with subprocess.Popen([branchctl, *arguments], stdin=theirs, stdout=theirs if stdout is TERMINAL else stdout,
                          stderr=theirs if stderr is TERMINAL else stderr, env=env) as process:
        os.close(theirs)
        text = read_all(ours)
    os.close(ours)
    return text, process.returncode
