#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""growth.py MEASUREMENTS PLOT draws the table "After days" of docs/measurements.md, as measure-weeks printed it, as SVG.

growth.py --check MEASUREMENTS PLOT: whether PLOT is what would be drawn.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import curves  # noqa: E402

HEAD = "After days |"
DAY = 86400
# Before the end of the run, as length_of() in measure-weeks.c has it.
TIERS = ("10 min", 8), ("1 min", 26 / 24), ("10 s", 2 / 24)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_table(path):
    """The days, and pairs of a name and its sizes."""
    with open(path, encoding="utf-8") as file:
        lines = iter(file)
        for line in lines:
            if line.startswith(HEAD):
                break
        else:
            sys.exit(f'{path}: it has no table that begins with "{HEAD}"')
        days = [float(day) for day in cells(line)[1:]]
        next(lines)  # the rule below the head
        rows = []
        for line in lines:
            if "|" not in line:
                return days, rows
            # trailing cells may be empty
            name, *sizes = line.split("|")
            sizes = [float(size) if size.strip() else None for size in sizes[:len(days)]]
            rows.append((name.strip(), sizes + [None] * (len(days) - len(sizes))))
        return days, rows


def draw(measurements, path):
    days, rows = read_table(measurements)
    curves.write(path, "Thirty days of a large machine in one database: measure-weeks", [day * DAY for day in days],
               [(name, [("size of the database", sizes)]) for name, sizes in rows], unit=(DAY, "d"),
               marks=[(f"from here windows begin as {tier}", (days[-1] - before) * DAY) for tier, before in TIERS])


def check(measurements, path):
    with tempfile.TemporaryDirectory() as place:
        drawn = os.path.join(place, "drawn.svg")
        draw(measurements, drawn)
        with open(drawn, encoding="utf-8") as new, open(path, encoding="utf-8") as old:
            if new.read() != old.read():
                sys.exit(f"{path}: not what is in the table of {measurements}: draw it with tests/benchmark/growth.py")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        check(*sys.argv[2:])
    elif len(sys.argv) == 3:
        draw(*sys.argv[1:])
    else:
        sys.exit(__doc__)
