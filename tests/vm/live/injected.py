# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Rows that no program makes, through /dev/simpmu, in NMIs: none at all, empty ones, of wrong paths, of the kernel,
written twice, more than the registers hold, and any hardware index. All of it reaches the daemon's stream, and its
windows skip and count what cannot be.
"""

import fcntl
import os
import random
import re
import struct
import unittest
from collections import Counter

from guest import Common, Daemon, Processor, dump_samples, wait_for

FIRE = 1 << 30 | (24 + 64 * 24) << 16 | ord("s") << 8 | 1  # SIMPMU_FIRE, tests/vm/simpmu/device.h
PREDICTED, WRONG_PATH = 1 << 1, 1 << 24
DEPTH = 32
AFTER_GAP = 1 << 63  # bpf/sample.h
EMPTY = (0, 0, 0)
REPEAT = 20
AMD = Processor(("AuthenticAMD", 25, 17, 1), "amd_lbr_v2", call_stack=0, tos=0)
ARCHITECTURAL = Processor(("GenuineIntel", 6, 143, 8), "arch_lbr", tos=0)


class Device:
    """Samples of given content, one after another, on one CPU."""

    def __init__(self):
        self.fd = os.open("/dev/simpmu", os.O_RDWR)

    def __enter__(self):
        self.cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, [0])
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        os.sched_setaffinity(0, self.cpus)

    def fire(self, ip, rows, hw_idx=0):
        """How many events took it: none while sampling is off."""
        sample = bytearray(struct.pack("=QQQ", ip, len(rows), hw_idx))
        for row in rows + (64 - len(rows)) * [EMPTY]:
            sample += struct.pack("=QQQ", *row)
        return fcntl.ioctl(self.fd, FIRE, sample)


def own_code():
    """Where this process has the most code: the daemon knows it as one object."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        spans = [re.match(r"(\w+)-(\w+) r-xp .*/", line) for line in maps]
    return max(((int(m[1], 16), int(m[2], 16)) for m in spans if m), key=lambda span: span[1] - span[0])


def kernel_code():
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        return next(int(line.split()[0], 16) for line in symbols if line.endswith(" T _stext\n"))


def count_nmis():
    with open("/proc/interrupts", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.strip().startswith("NMI:"))


def mark_wrong_paths(samples):
    """A third of the rows in which there is something."""
    chance = random.Random(5)
    for ip, rows, hw_idx in samples:
        flags = [WRONG_PATH if row[0] and chance.randrange(3) == 0 else 0 for row in rows]
        yield ip, [(*row[:2], row[2] | flag) for row, flag in zip(rows, flags)], hw_idx


def leave_wrong_paths(rows):
    kept = []
    for row in rows:
        if not row[2] & WRONG_PATH:
            kept.append(row)
        elif kept:
            kept[-1] = (*kept[-1][:2], kept[-1][2] | AFTER_GAP)
    return kept


class Stream(unittest.TestCase):
    def fire_all(self, samples):
        with Device() as device:
            wait_for(lambda: device.fire(1, []), "sampling is on")
            before = count_nmis()
            for sample in samples:
                self.assertEqual(device.fire(*sample), 1)
            self.assertGreaterEqual(count_nmis() - before, len(samples), "they were no NMIs")

    def stream_of(self, mode, samples):
        with Common(-1):
            stream = dump_samples(mode, ["cat"], lambda: self.fire_all(samples))
        stream = [sample for sample in stream if sample["ip"] != 1]
        self.assertEqual(len(stream), len(samples))
        return stream

    def check_stream(self, mode, samples, has_hw_idx=True):
        stream = self.stream_of(mode, samples)
        for got, (ip, rows, hw_idx) in zip(stream, samples):
            while rows and rows[-1] == EMPTY:
                rows = rows[:-1]
            self.assertEqual((got["ip"], got["rows"]), (ip, rows))
            self.assertEqual(got["hw_idx"], hw_idx if rows and has_hw_idx else None)

    def samples(self):
        """Of every length, from 0 to 64 rows, each with an index of its own; a quarter ends in empty rows."""
        chance = random.Random(4)
        for n in range(65):
            rows = [(chance.randrange(1, 1 << 47), chance.randrange(1, 1 << 47), PREDICTED)
                    for _ in range(n)]
            if n % 4 == 3:
                rows[n // 2:] = (n - n // 2) * [EMPTY]
            yield chance.randrange(1 << 12, 1 << 47), rows, chance.randrange(DEPTH)

    def test_branches(self):
        self.check_stream("branch", list(self.samples()))

    def test_call_stacks(self):
        self.check_stream("stack", list(self.samples()))

    def test_where_an_index_means_nothing(self):
        with ARCHITECTURAL:
            self.check_stream("stack", list(self.samples()), has_hw_idx=False)

    def test_wrong_paths_are_left_out(self):
        """Before they are copied, and the row before them says so."""
        samples = list(mark_wrong_paths(self.samples()))
        with AMD:
            stream = self.stream_of("branch", samples)
        for got, (ip, rows, _) in zip(stream, samples):
            kept = leave_wrong_paths(rows)
            self.assertEqual(got["wrong"], len(rows) - len(kept))
            kept = [row for row in kept if row[0]]
            self.assertEqual((got["ip"], got["rows"], got["hw_idx"]), (ip, kept, None))


class Windows(unittest.TestCase):
    """What the daemon counts and what it skips, against what is known of each snapshot."""

    def snapshots(self):
        """Rows, newest first, and what there is to count in them."""
        start, _ = own_code()
        kernel = kernel_code()
        # from the target of each to the source of the next newer one are 8 bytes
        user = [(start + 64 * i + 8, start + 64 * i + 64, PREDICTED) for i in range(63, -1, -1)]
        yield [], {}
        yield DEPTH * [EMPTY], {"rows_zero": DEPTH}
        yield user[:16] + 16 * [EMPTY], {"rows_counted": 16, "rows_zero": 16, "runs_counted": 15}
        for n in 8, 16, 32, 64:
            yield user[:n], {"rows_counted": n, "runs_counted": n - 1}
        wrong = (start + 12, start + 128, PREDICTED | WRONG_PATH)
        yield [user[0], wrong, *user[1:4]], {"rows_counted": 4, "rows_wrong_path": 1, "runs_counted": 2}
        yield [user[0], user[0], *user[1:31]], {"rows_counted": 31, "rows_duplicate": 1, "runs_counted": 30}
        yield ([(kernel + 8, user[0][1], PREDICTED), (user[0][0], kernel, PREDICTED)],
               {"rows_counted": 2, "runs_counted": 1})

    def fire(self, daemon):
        """Each snapshot REPEAT times; what the open window and the status then say."""
        ip, n = own_code()[0], REPEAT * len(list(self.snapshots()))
        with Device() as device:
            wait_for(lambda: device.fire(ip, []), "sampling is on")
            for rows, _ in self.snapshots():
                for _ in range(REPEAT):
                    self.assertEqual(device.fire(ip, rows), 1)
        wait_for(lambda: daemon.ask("top", "..@0")["totals"]["samples"] == n + 1, "all samples")
        return daemon.ask("top", "..@0")["totals"], daemon.ask("status")["snapshots"]

    def test_accounts(self):
        with Common(-1), Daemon(f"Mode=branch\nPids={os.getpid()}") as daemon:
            self.check_accounts(daemon)

    def test_accounts_of_amd(self):
        """It writes no row twice: two alike are two branches, and the run between them goes backward."""
        with AMD, Common(-1), Daemon(f"Pids={os.getpid()}") as daemon:
            sampling = daemon.sampling()
            self.assertEqual((sampling["mode"], sampling["records"]), ("branch", "AMD LbrExtV2"))
            self.check_accounts(daemon, {"rows_duplicate": -1, "rows_counted": 1, "runs_backward": 1})

    def check_accounts(self, daemon, other=()):
        """With @other counts of each round than an Intel processor before Alder Lake has."""
        totals, status = self.fire(daemon)
        print("   ", {name: n for name, n in totals.items() if n}, status, flush=True)
        expected = Counter()
        for rows, counts in [*self.snapshots(), ([], other)]:
            expected.update({"rows": REPEAT * len(rows)})
            expected.update({name: REPEAT * n for name, n in dict(counts).items()})
        self.assertEqual({name: totals[name] for name in expected}, expected)
        self.assertEqual(status["empty"], 2 * REPEAT + 1)
        self.assertEqual(status["full"], 3 * REPEAT)
        self.assertEqual(status["rows"] + expected["rows_zero"], expected["rows"])
        self.assertEqual((status["rows_kernel"], status["no_branch_stack"]), (0, 0))

    def test_the_kernels_rows_are_left_out(self):
        with Common(-1), Daemon(f"Mode=branch\nBranchFilter=any,u\nPids={os.getpid()}") as daemon:
            totals, status = self.fire(daemon)
        self.assertEqual(status["rows_kernel"], 2 * REPEAT)
        self.assertEqual(totals["rows"] + 2 * REPEAT,
                         REPEAT * sum(len(rows) for rows, _ in self.snapshots()))
