/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fills the rings and tables of memory-cpus.h at full speed, as the kernel and the BPF programs
 * would: samples of the processes of population.h, prepared before, with the time and the process
 * put in as they are written.
 */
#pragma once

#include "tests/benchmark/memory-cpus.h"

enum ring_writer_kind {
	RING_WRITER_SNAPSHOTS, /* of 32 branch records */
	RING_WRITER_STACKS,    /* of 32 callers, by frame pointers: some 60 of each process */
	RING_WRITER_RARE,      /* likewise, but some thousands of each: the tree prunes them */
	RING_WRITER_TICKS,     /* an entry of a table counts one */
	RING_WRITER_KINDS,
};

/* Writes whenever the machine samples, until the process is killed. False if there is no memory. */
bool ring_writer_run(const struct memory_cpus *machine, enum ring_writer_kind kind);
