# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings of five functions, whose shares are known and differ: 40, 25, 15, 11 and 9 % of the samples are theirs."""

import perfdata

KERNEL = 0xffffffff81000000


def write_names(path, names):
    """Of the functions, as /proc/kallsyms has them; all are called by the last."""
    with open(path, "w", encoding="ascii") as opened:
        opened.write("%x T _text\n" % KERNEL)
        for i, name in enumerate(names):
            opened.write("%x t %s\n" % (address(i) - 1, name))


def address(function):
    return KERNEL + 64 * (function + 1) + 1


def mapping():
    return perfdata.kernel(KERNEL, 0x100000, KERNEL)


def sample(i, below=()):
    """The sample of number i; below is the rest of its call chain."""
    leaf = next(n for n, end in enumerate((40, 65, 80, 91, 100)) if i % 100 < end)
    chain = [address(leaf)] + ([address(4)] if leaf < 4 else []) + list(below)
    return perfdata.sample(1000 * i, chain[0], chain=chain, misc=perfdata.KERNEL)
