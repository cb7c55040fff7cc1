# SPDX-License-Identifier: LGPL-2.1-or-later
"""A screen to look at and keys to press: tmux is the terminal."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

from harness import check

WAIT = 180  # seconds, for busy machines


def is_reversed(line):
    """Of a line with its colours, as text("-e") has it: it may first end those of the line before."""
    return re.match(r"\033\[(0;)?7m", line) is not None


class Terminal:
    """Runs a command on a screen of its own."""

    def __init__(self, command, columns=80, rows=24, **environment):
        self.folder = tempfile.mkdtemp()
        self.tmux = ["tmux", "-f", "/dev/null", "-S", os.path.join(self.folder, "tmux")]
        env = dict(os.environ, LC_ALL="C.UTF-8", **environment)
        env.pop("NO_COLOR", None)
        env.update(environment)
        env.pop("TMUX", None)
        line = shlex.join(command) + "; echo ended with $?; sleep 1000"
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(columns), "-y", str(rows), line],
                       env=env, check=True)
        subprocess.run([*self.tmux, "set", "-g", "window-size", "manual"], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], check=False)
        shutil.rmtree(self.folder)

    def text(self, *options):
        return subprocess.run([*self.tmux, "capture-pane", "-p", *options], check=True,
                              capture_output=True).stdout.decode()

    def press(self, *keys):
        for key in keys:
            subprocess.run([*self.tmux, "send-keys", key], check=True)

    def type(self, text):
        subprocess.run([*self.tmux, "send-keys", "-l", "--", text], check=True)

    def answer(self, key, text):
        """To what @key asks for, instead of what it was."""
        self.press(key, "C-u")
        self.type(text)
        self.press("Enter")

    def resize(self, columns, rows):
        subprocess.run([*self.tmux, "resize-window", "-x", str(columns), "-y", str(rows)], check=True)

    def waits(self, condition, *what):
        """Until it holds of what is shown."""
        global WAIT
        end = time.monotonic() + WAIT
        while not condition(self.text()):
            if time.monotonic() > end:
                WAIT = 1  # what follows goes wrong, too
                return check(False, *what, "but\n" + self.text())
            time.sleep(0.05)
        return True

    def shows(self, *texts):
        """Also where a line was wrapped."""
        return self.waits(lambda shown: all(text in shown or text in self.text("-J") for text in texts),
                          "not shown:", texts)

    def shows_not(self, word):
        return self.waits(lambda shown: word not in shown, "still shown:", word)
