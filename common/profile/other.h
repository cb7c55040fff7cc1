/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows that stand for others: the branches, runs and streams of a process and an object that were
 * too rare to be kept one by one, see limit/limit.h. Their locations are none that code can have,
 * and nothing may look them up. So sums stay exact, and what was pruned from one row is at most
 * what the row "other" of its process and object has.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

/* A branch or a stream from the start of the object to address 0, which no record has. */
static inline bool other_is_branch(const struct profile_branch *branch)
{
	return branch->to.object == PROFILE_NONE && branch->to.offset == 0 &&
	       branch->from.offset == 0;
}

static inline bool other_is_stream(const struct profile_stream *stream)
{
	return stream->parent == PROFILE_NONE && stream->to.object == PROFILE_NONE &&
	       stream->to.offset == 0 && stream->from.offset == 0;
}

/* A run that ends before it starts. */
static inline bool other_is_block(const struct profile_block *block)
{
	return block->start == 1 && block->end == 0;
}

/* The same, without counts. */
static inline struct profile_branch other_branch(uint32_t process, uint32_t object)
{
	return (struct profile_branch){ .process = process,
					.from = { object, 0 },
					.to = { PROFILE_NONE, 0 } };
}

static inline struct profile_stream other_stream(uint32_t process, uint32_t object)
{
	return (struct profile_stream){ .parent = PROFILE_NONE,
					.process = process,
					.from = { object, 0 },
					.to = { PROFILE_NONE, 0 } };
}

static inline struct profile_block other_block(uint32_t process, uint32_t object)
{
	return (struct profile_block){ .process = process, .object = object, .start = 1, .end = 0 };
}

/* What all of them have in a profile. */
struct other_sums {
	uint64_t taken, runs, cycles, hits; /* cycles: of the runs */
};

struct other_sums other_sum_up(const struct profile *profile);
