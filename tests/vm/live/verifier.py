# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernel's verifier takes the BPF program, whatever it is set to: on this kernel, too."""

import subprocess
import unittest

from guest import built


class Verifier(unittest.TestCase):
    def test_the_program_loads(self):
        done = subprocess.run([built("tests/live/test-bpf-program")], stdout=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
