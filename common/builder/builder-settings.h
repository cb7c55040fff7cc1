/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a builder counts, and how much memory it may take. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stitch/stitch.h"

struct unwinder;

#define BUILDER_UNITE_MIN 16u /* processes; of fewer, each is kept apart */

struct builder_settings {
	uint32_t source; /* samples of this source count */
	/* A full snapshot of this many records may hold its newest one twice; 0: none does. */
	uint32_t duplicate_depth;
	/* A full table is flushed and begun anew: memory grows with the profile. */
	bool unbounded;
	size_t max_rows;    /* distinct pairs of run and branch; 0: a quarter of a million */
	size_t max_frames;  /* nodes of the tree of stacks; 0: a quarter of a million */
	size_t max_streams; /* nodes of the tree of streams, at least 256; 0: 64 Ki */
	/* Streams of up to this many samples are pruned, whatever their share. */
	uint32_t rare_streams;
	/* Of the profile, see common/profile/tables.h: what the others would hold is counted, and
	 * in the counters, but their rows are not made. 0: all. */
	unsigned int tables;
	bool sum_processes; /* branches and blocks are of no process, but of all together */
	bool unite_gone;    /* processes that came and went: see flush-processes.h */
	bool no_stitch;     /* call stacks from each sample's own records only */
	/*
	 * This many records that stay in memory may wait for a thread of their own; 0: no thread.
	 */
	size_t rows_ahead;
	struct stitch_settings stitch;
	struct unwinder *unwinder; /* of the stacks that samples carry, borrowed; or NULL */
};
