# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Call stacks in mode stack of programs that leave calls without returning, by longjmp, exceptions and coroutines: the
registers keep such calls, the stack does not. Beside them a chain of calls deeper than the registers; all share the
CPUs, so that task switches empty the registers on kernels before 6.15.
"""

import contextlib
import os
import re
import unittest
from collections import Counter

from guest import Daemon, Program, built, wait_for

PROGRAMS = ["vm-deep", "vm-longjmp", "vm-coroutines", "vm-exceptions"]
ENOUGH = 1000  # samples of each with the whole stack
START = "main"
STARTUP = ("_init", "frame_dummy", "register_tm_clones")
COROUTINES = ("one_0", "two_0")


def caller_of(name):
    """The function that calls @name; None where a thread or a coroutine begins."""
    if name == START or name in COROUTINES:
        return None
    if name == "make":
        return "f43"
    match = re.fullmatch(r"(f|one_|two_)(\d+)", name)
    if match:
        before = match[1] + str(int(match[2]) - 1)
        return START if before == "f0" else before
    match = re.fullmatch(r"(f\d+)_([12])", name)
    if match:
        return match[1] + ("_1" if match[2] == "2" else "")
    match = re.fullmatch(r"(link|outer|inner|guard)<(\d+)>", name)
    if not match:
        raise AssertionError(f"an unknown function: {name}")
    before = {"link": f"link<{int(match[2]) - 1}>", "inner": f"outer<{match[2]}>"}.get(match[1], f"link<{match[2]}>")
    return START if before == "link<0>" else before


def short_name(frame):
    """The function of a program: void link<3u>() is link<3>."""
    name = frame["symbol"] or ""
    match = re.search(r"\b(link|outer|inner|guard)<(\d+)u?>", name)
    return f"{match[1]}<{match[2]}>" if match else name


def own_part(frames, program):
    """The functions of the program, from the innermost on; what the libraries did for it, and its start, left out."""
    names = [short_name(frame) if (frame["object"] or "").endswith(program) else None for frame in frames]
    names = [name for name in names if name != "_start"]
    while names and (not names[0] or "@plt" in names[0]):
        names.pop(0)
    end = names.index(None) if None in names else len(names)
    return names[:end], len(names) - end


def check_stack(row, program, counts):
    """Counts a stack; returns it if it is wrong."""
    names, _ = own_part(row["frames"], program)
    if not names or names[0] in STARTUP:
        return None
    n_right = 1
    while n_right < len(names) and names[n_right] == caller_of(names[n_right - 1]):
        n_right += 1
    counts["samples"] += row["samples"]
    counts["frames"] += row["samples"] * len(names)
    counts["wrong frames"] += row["samples"] * (len(names) - n_right)
    counts["whole"] += row["samples"] if n_right == len(names) and caller_of(names[-1]) is None else 0
    counts["stitched"] += row["samples"] if row["stitched"] else 0
    return names if n_right < len(names) else None


class Verified(unittest.TestCase):
    def test_no_frame_is_wrong(self):
        names = [name for name in PROGRAMS if os.path.exists(built("tests/vm/" + name))]
        with contextlib.ExitStack() as stack:
            programs = [stack.enter_context(Program(i % 2, "nice", "-n", "19", built("tests/vm/" + name)))
                        for i, name in enumerate(names)]
            pids = " ".join(str(program.pid) for program in programs)
            daemon = stack.enter_context(Daemon(f"Mode=stack\nFrequency=999\nPids={pids}"))
            counts, wrong = wait_for(lambda: self.enough(daemon, names), "whole stacks of all programs")
        for name in names:
            print("   ", name, dict(counts[name]), flush=True)
        self.assertEqual(wrong, [])

    @staticmethod
    def enough(daemon, names):
        """What the stacks of each program are, and those that are wrong."""
        counts, wrong = {name: Counter() for name in names}, []
        for row in daemon.ask("top", "..@0", "--by", "stack", "-n", 0)["rows"]:
            objects = [frame["object"] or "" for frame in row["frames"]]
            name = next((name for name in names if any(path.endswith(name) for path in objects)), None)
            if name and check_stack(row, name, counts[name]):
                wrong.append(row)
        return (counts, wrong) if all(each["whole"] >= ENOUGH for each in counts.values()) else None
