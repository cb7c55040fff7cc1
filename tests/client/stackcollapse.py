# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the text of perf script as stackcollapse-perf.pl does: a head with a name, a process and a period, frames with an
address, a function and an object, leaf first, and an empty line."""

import collections
import re

HEAD = re.compile(r"^\s*(\S.*?)\s+(-?\d+)/-?\d+ +\d+\.\d+: +(\d+) (\S.*?): *(\S.*)?$")
FRAME = re.compile(r"^\s*[0-9a-f]+ (.+) \((.*)\)$")


class Stacks:
    """Sums of periods: of stacks, as `name;outermost;...;innermost`, and of processes. Lines that are neither head nor
    frame are in strange."""

    def __init__(self, text):
        self.weights, self.pids, self.strange, self.n_stacks = collections.Counter(), collections.Counter(), [], 0
        self.name, self.frames, self.period = None, [], 0
        for line in text.split("\n"):
            self.take(line)

    def take(self, line):
        if not line.strip():
            self.close()
        elif self.name is None:
            self.open(line)
        else:
            frame = FRAME.match(line)
            if frame:
                self.frames.insert(0, re.sub(r"\+0x[0-9a-f]+$", "", frame[1]))
            else:
                self.close()
                self.open(line)

    def open(self, line):
        head = HEAD.match(line)
        if not head:
            self.strange.append(line)
            return
        self.name, self.period = head[1], int(head[3])
        self.pids[int(head[2])] += self.period
        self.n_stacks += 1

    def close(self):
        if self.name is not None:
            self.weights[";".join([self.name, *self.frames])] += self.period
        self.name, self.frames = None, []
