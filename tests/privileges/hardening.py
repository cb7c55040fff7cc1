# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the programs are built so that an error in memory is hard to use, as their ELF files say:
hardening.py COMPILER [--fortified] PROGRAM...   Skipped without readelf."""
import os
import re
import shutil
import subprocess
import sys
import unittest

COMPILER = sys.argv.pop(1)
FORTIFIED = "--fortified" in sys.argv
PROGRAMS = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
del sys.argv[1:]
SKIPPED = 77


def readelf(*arguments):
    done = subprocess.run(["readelf", "--wide", *arguments], capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL="C"))
    return done.stdout


def features(path):
    """Of the control flow: IBT, SHSTK."""
    return set(re.findall(r"\b(IBT|SHSTK)\b", readelf("--notes", path)))


class Hardening(unittest.TestCase):
    def test_addresses_are_random(self):
        for program in PROGRAMS:
            self.assertRegex(readelf("--file-header", program), r"Type: +DYN", program)
            self.assertRegex(readelf("--dynamic", program), r"FLAGS_1.*\bPIE\b", program)

    def test_all_of_relro(self):
        """What the loader relocates is read-only before main(), and nothing is relocated later."""
        for program in PROGRAMS:
            self.assertIn("GNU_RELRO", readelf("--program-headers", program), program)
            self.assertRegex(readelf("--dynamic", program), r"BIND_NOW|FLAGS_1.*\bNOW\b", program)

    def test_nothing_is_writable_and_executable(self):
        for program in PROGRAMS:
            headers = readelf("--program-headers", program)
            flags = re.findall(r"^  ([A-Z_]+) +(?:0x\w+ +){5}(R?) ?(W?) ?(E?)", headers, re.M)
            self.assertIn("LOAD", [segment for segment, *_ in flags])
            for segment, _, writable, executable in flags:
                self.assertFalse(writable and executable, (program, segment))
            self.assertRegex(headers, r"GNU_STACK +(?:0x\w+ +){5}RW ", program)

    def test_stacks_are_protected(self):
        for program in PROGRAMS:
            self.assertIn("__stack_chk_fail", readelf("--dyn-syms", program), program)

    @unittest.skipUnless(FORTIFIED, "built without optimization")
    def test_calls_are_fortified(self):
        for program in PROGRAMS:
            self.assertRegex(readelf("--dyn-syms", program), r"__\w+_chk@", program)

    @unittest.skipUnless(os.uname().machine == "x86_64", "of x86")
    def test_control_flow_is_protected(self):
        """As far as the C library's own start files go."""
        start = subprocess.run([COMPILER, "-print-file-name=Scrt1.o"], capture_output=True, text=True, check=True)
        expected = {"SHSTK"} | features(start.stdout.strip())
        for program in PROGRAMS:
            self.assertEqual(features(program), expected, program)

    def test_no_search_path(self):
        for program in PROGRAMS:
            self.assertNotRegex(readelf("--dynamic", program), r"\b(RPATH|RUNPATH)\b", program)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        print("skipped: there is no readelf here")
        sys.exit(SKIPPED)
    unittest.main()
