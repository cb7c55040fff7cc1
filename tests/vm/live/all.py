# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon with branch records, in the guest: BUILD=/run/guest/build all.py [MODULE[.CLASS[.TEST]]...]"""

import os
import sys
import unittest

import guest

MODULES = ["verifier", "branches", "kernel_code", "compare_perf", "injected", "stacks", "unwound", "bits_32", "verified",
           "losses", "events", "permissions"]

if not os.path.exists("/dev/simpmu"):
    print("skipped: there is no simulated PMU here")
    sys.exit(77)
guest.keep_patched()
# else it lowers the highest rate it allows, for in an emulator its handlers take their time
guest.write("/proc/sys/kernel/perf_cpu_time_max_percent", 0)
unittest.main(module=None, argv=[sys.argv[0], "-v", "-f", *(sys.argv[1:] or MODULES)])
