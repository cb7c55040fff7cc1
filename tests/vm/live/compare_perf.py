# SPDX-License-Identifier: LGPL-2.1-or-later
"""perf record -b beside the daemon's stream, on the same overflows: all that perf took is there, row by row."""

import os
import re
import subprocess
import tempfile
import unittest
from collections import defaultdict

from guest import Common, built, dump_samples

PREDICTED = 2
LOAD = "for i in 0 1; do taskset -c $i $0 30000 & done; wait"


def known_rows(rows):
    """Without those in which nothing was recorded, which the daemon leaves out."""
    return [row for row in rows if row[0] or row[1]]


def read_perf(text):
    """Of each sample, by CPU and in order: task, ip and rows, these as (from, to, is it predicted)."""
    samples = defaultdict(list)
    for line in text.splitlines():
        head = re.match(r"\s*\d+/(\d+)\s+\[(\d+)\]\s+[\d.]+:\s+([0-9a-f]+)\s*(.*)$", line)
        rows = [row.split("/") for row in head[4].split()]
        samples[int(head[2])].append((int(head[1]), int(head[3], 16), known_rows(
            [(int(row[0], 16), int(row[1], 16), row[2] == "P") for row in rows])))
    return samples


def read_ours(stream):
    samples = defaultdict(list)
    for sample in stream:
        samples[sample["cpu"]].append((sample["tid"], sample["ip"], known_rows(
            [(start, to, flags & PREDICTED != 0) for start, to, flags in sample["rows"]])))
    return samples


class ComparePerf(unittest.TestCase):
    def test_every_sample_of_perf_is_in_the_stream(self):
        data = os.path.join(tempfile.mkdtemp(), "perf.data")
        record = ["perf", "record", "-q", "-B", "-N", "-a", "-e", "cycles", "-c", "1000003", "-j",
                  "any,u,k", "-m", "2M", "-o", data, "--", "sh", "-c", LOAD,
                  built("tests/simulator/programs/simulated-libc")]
        with Common(4000):
            ours = read_ours(dump_samples("branch", record))
        script = subprocess.run(["perf", "script", "-i", data, "-F", "pid,tid,cpu,time,ip,brstack"],
                                check=True, capture_output=True, text=True)
        perf = read_perf(script.stdout)
        n_rows = sum(len(sample[2]) for samples in perf.values() for sample in samples)
        for cpu in sorted(perf):
            print(f"    CPU {cpu}: perf took {len(perf[cpu])} samples, we {len(ours[cpu])}", flush=True)
            self.assertGreater(len(perf[cpu]), 100)
            rest, n_there = iter(ours[cpu]), 0
            for sample in perf[cpu]:
                if sample not in rest:
                    self.fail(self.describe(sample, n_there, perf[cpu], ours[cpu]))
                n_there += 1
        print(f"    {n_rows} rows in perf's", flush=True)

    def describe(self, sample, n_before, perf, ours):
        """What became of a sample of perf's that is not where it should be in our stream."""
        n_missing = sum(one not in ours for one in perf)
        alike = [one for one in ours if one[:2] == sample[:2]]
        return (f"after {n_before} of {len(perf)} samples one of perf's is not in our stream, or not in this "
                f"place; {n_missing} are in none: {sample}; ours of that ip: {alike[:3]}")
