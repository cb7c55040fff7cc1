/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of windows that queries made, for the next query of the same time: profiles of an hour, ten
 * minutes or one, and counts by function, object and so on. A sum is found by all of its windows,
 * so that it is not once any of them was merged or removed. The least recently used go where all
 * take too much memory, and those that nobody has asked for lately.
 *
 * For the event loop alone, but for the profiles: they do not change.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/rows/count-slot.h"
#include "daemon/window/window.h"

#define SLOT_SUMS_MAX_BYTES (32u << 20)
#define SLOT_SUMS_KEEP_US   600000000ULL

/* What a sum is of; hashed as bytes, so it has no padding. */
struct slot_key {
	int64_t first; /* id of a window */
	uint64_t n;
	uint64_t hash; /* of the windows */
	uint64_t what; /* tables of a profile; or of counts, a hash of what is counted */
};

struct slot_sum;

struct slot_sums {
	struct slot_sum *by_key;
	struct slot_sum *newest, *oldest; /* by their last use */
	size_t n_bytes;
};

void slot_key_make(struct slot_key *ret, const struct window *windows, size_t n, uint64_t what);

/* None may be in use any more. */
void slot_sums_done(struct slot_sums *sums);

/* NULL if there is none; else slot_sums_release() is due. */
struct slot_sum *slot_sums_find(struct slot_sums *sums, const struct slot_key *key,
				uint64_t now_us);
/* Either is taken, a finalized profile or counts; slot_sums_release() is due. NULL: out of memory,
 * and nothing is taken. */
struct slot_sum *slot_sums_add(struct slot_sums *sums, const struct slot_key *key,
			       struct profile *profile, uint64_t now_us);
struct slot_sum *slot_sums_add_counts(struct slot_sums *sums, const struct slot_key *key,
				      struct count_slot *counts, uint64_t now_us);
void slot_sums_release(struct slot_sums *sums, struct slot_sum *sum);

/* What it is, for reading alone. */
struct profile *slot_sum_profile(const struct slot_sum *sum);
const struct count_slot *slot_sum_counts(const struct slot_sum *sum);

/* Frees those that nobody has used for SLOT_SUMS_KEEP_US. */
void slot_sums_expire(struct slot_sums *sums, uint64_t now_us);
