# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the units give each process what the table in docs/architecture.md says: units.py"""
import os
import re
import unittest

from table import CLIENTS, TOP, mask_of, read_table


def read_unit(process):
    """{key: [value]} of a service."""
    name = process if process in CLIENTS | {"branchd"} else process + "@"
    with open(os.path.join(TOP, "systemd", name + ".service.in"), encoding="ascii") as file:
        keys = {}
        for key, value in re.findall(r"^(\w+)=(.*)$", file.read(), re.M):
            keys.setdefault(key, []).append(value)
    return keys


def filter_text(lines):
    """"@a; not @b; but c" of a unit's SystemCallFilter= lines."""
    words = ["not " + line[1:] if line.startswith("~") else "but " + line for line in lines]
    return "; ".join([lines[0]] + words[1:])


class Units(unittest.TestCase):
    def setUp(self):
        self.table = {name: row for name, row in read_table(clients=True).items() if name != "branchd-launch"}

    def test_all_processes_are_in_the_table(self):
        units = {name.split(".")[0].rstrip("@") for name in os.listdir(os.path.join(TOP, "systemd"))
                 if name.endswith(".service.in")}
        self.assertEqual(units, set(self.table))

    def test_capabilities(self):
        for process, row in self.table.items():
            unit = read_unit(process)
            for key in "CapabilityBoundingSet", "AmbientCapabilities":
                self.assertEqual(mask_of(" ".join(unit[key])), mask_of(row["capabilities"]), (process, key))
            self.assertEqual(unit["NoNewPrivileges"], ["yes"], process)

    def test_users(self):
        for process, row in self.table.items():
            self.assertEqual(read_unit(process)["User"], [row["user"]], process)

    def test_system_calls(self):
        for process, row in self.table.items():
            self.assertEqual(filter_text(read_unit(process)["SystemCallFilter"]), row["system calls"], process)

    def test_sockets_are_for_branchd_alone(self):
        for process in self.table:
            if process in CLIENTS | {"branchd"}:
                continue
            with open(os.path.join(TOP, "systemd", process + ".socket"), encoding="ascii") as file:
                text = file.read()
            self.assertIn("\nSocketMode=0600\n", text)
            self.assertIn("\nSocketUser=branchd\n", text)
            self.assertIn("\nTriggerLimitIntervalSec=0\n", text)


if __name__ == "__main__":
    unittest.main()
