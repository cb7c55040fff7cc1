/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where stacks end that do not reach the start of their thread: the objects at whose code most of
 * them end, for status. The table is of fixed size: when it is full, the object with the fewest
 * stacks makes room, and the new one takes over its counts (Metwally et al., Space-Saving, 2005).
 * So frequent objects stay, and a count may be too high by those of rare ones.
 *
 * One thread adds; any thread reads.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define SHORT_STACKS_PLACES 64
#define SHORT_STACKS_SHOWN  10

struct short_stacks_object {
	char path[256];      /* a longer one is truncated */
	uint64_t n;          /* stacks that end there */
	uint64_t n_no_table; /* those of them that end at code without a table */
};

struct short_stacks {
	pthread_mutex_t lock;
	struct short_stacks_object objects[SHORT_STACKS_PLACES];
	size_t n;
};

void short_stacks_init(struct short_stacks *stacks);
void short_stacks_done(struct short_stacks *stacks);

/* A stack ends in @object. */
void short_stacks_add(struct short_stacks *stacks, const struct profile_object *object,
		      bool no_table);

/* Copies the objects with most stacks, the most first. Their number. */
size_t short_stacks_get(struct short_stacks *stacks,
			struct short_stacks_object ret[static SHORT_STACKS_SHOWN]);
