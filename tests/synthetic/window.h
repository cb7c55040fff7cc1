/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synthetic windows. Each has mostly the keys of the one before, as it is on a machine that goes on
 * with what it does.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

/* What is in a window. A table of keys is larger by the part that changes from window to window. */
struct synthetic_shape {
	const char *name;
	uint32_t n_processes, n_objects, n_functions, n_nodes, n_branches, n_blocks;
	uint32_t depth;   /* of the stacks */
	uint32_t renamed; /* the window from which on the program is another file; 0: none */
};

extern const struct synthetic_shape synthetic_idle, synthetic_busy, synthetic_renamed;

/* Finalized; on failure the program ends. */
struct profile *synthetic_profile(const struct synthetic_shape *shape, uint32_t window);
