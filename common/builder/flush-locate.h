/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From raw addresses to locations in the objects of a profile; and what their counts stand for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/builder/builder-state.h"
#include "common/builder/flush-sums.h"
#include "common/process/processes.h"
#include "common/profile/profile.h"

/* One flush of a builder. */
struct flush {
	struct builder *builder;
	const struct processes *processes;
	struct profile *profile;
	const struct mapping *found; /* last, in the process context of this number; or NULL */
	uint32_t found_in;
	bool sums_stacks;                           /* rows of stacks may be there already */
	struct flush_sums stacks, branches, blocks; /* where rows are added up */
};

/* Where @address of the process context number @context lies. 0 or -ENOMEM. */
int flush_locate(struct flush *f, uint32_t context, uint64_t address, struct location *ret);

/* How much of what branch records of that context counted, @n, was not taken. */
uint64_t flush_surplus(const struct flush *f, uint32_t context, uint64_t n);
