# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings in the shape that perf record writes, with what a test wants to find in them."""

import struct

IP, TID, TIME, CALLCHAIN, IDENTIFIER = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 16
MMAP, COMM, SAMPLE, MMAP2 = 1, 3, 9, 10
KERNEL, USER, WITH_BUILD_ID = 1, 2, 1 << 14
CPU_CLOCK = 0
EVENT_DESC = 12
SAMPLE_ID_ALL = 1 << 18
BASE, PID = 0x400000, 4711


def attr(period):
    return struct.pack("<IIQQQQQ", 1, 128, CPU_CLOCK, period, IP | TID | TIME | CALLCHAIN | IDENTIFIER,
                       0, SAMPLE_ID_ALL).ljust(128, b"\0")


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(time, number=1):
    return struct.pack("<IIQQ", PID, PID, time, number)


def padded(name):
    return name + bytes(8 - len(name) % 8)


def mapping(path, build_id=None, start=BASE, time=0):
    where = struct.pack("<IIQQQ", PID, PID, start, 0x10000, 0)
    which = (struct.pack("<BxH20s", 20, 0, build_id) if build_id else
             struct.pack("<IIQQ", 0, 0, 0, 0))
    return record(MMAP2, USER | (WITH_BUILD_ID if build_id else 0),
                  where + which + struct.pack("<II", 5, 0) + padded(path) + trailer(time))


def comm(name, time=0):
    return record(COMM, USER, struct.pack("<II", PID, PID) + padded(name) + trailer(time))


def kernel(start, length, reference):
    return record(MMAP, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, start, length, reference) +
                  padded(b"[kernel.kallsyms]_text") + trailer(0))


def sample(time, address=BASE + 0x100, number=1, chain=(), misc=USER):
    return record(SAMPLE, misc, struct.pack("<QQIIQQ", number, address, PID, PID, time, len(chain)) +
                  b"".join(struct.pack("<Q", a) for a in chain))


def write(path, records, names=(b"cpu-clock",), periods=None):
    """The recording of @records; event number n (from 1) is called names[n - 1]."""
    periods = periods or [1000] * len(names)
    attrs, description = b"", struct.pack("<II", len(names), 128)
    for i, name in enumerate(names):
        attrs += attr(periods[i]) + struct.pack("<QQ", 104 + 8 * i, 8)
        text = padded(name)
        description += attr(periods[i]) + struct.pack("<II", 1, len(text)) + text + \
            struct.pack("<Q", i + 1)
    ids = b"".join(struct.pack("<Q", i + 1) for i in range(len(names)))
    data = b"".join(records)
    at_attrs = 104 + len(ids)
    at_data = at_attrs + len(attrs)
    at_features = at_data + len(data)
    header = struct.pack("<QQQQQQQQQQQQQ", 0x32454c4946524550, 104, 128 + 16, at_attrs, len(attrs),
                         at_data, len(data), 0, 0, 1 << EVENT_DESC, 0, 0, 0)
    features = struct.pack("<QQ", at_features + 16, len(description)) + description
    with open(path, "wb") as f:
        f.write(header + ids + attrs + data + features)
