/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a builder counts, and how much memory it may take. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stitch/stitch.h"

struct builder_settings {
	uint32_t source;  /* samples of this source count */
	uint32_t doubled; /* where not 0: a full snapshot of this many rows may hold its newest
			     twice */
	bool unbounded;  /* a full table is settled and begun anew: memory grows with the profile */
	size_t max_rows; /* distinct runs and branches, in pairs; 0: a quarter of a million */
	size_t max_frames;  /* nodes of the tree of stacks; 0: a quarter of a million */
	size_t max_streams; /* and of that of streams; 0: 64 Ki. At least 256 */
	uint32_t
		light_streams; /* streams of so many samples are not kept, whatever share that is */
	bool no_stitch;        /* call stacks by each sample's own rows */
	size_t rows_ahead; /* rows that stay may wait for a thread of their own, so many; 0: none */
	struct stitch_settings stitch;
};
