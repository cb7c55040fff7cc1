/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which code is hot: functions with a share of the samples of their process, or those of the kernel
 * with a share of all samples. A bounded list, for the collector, which knows where the objects of
 * a process are mapped.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define HOT_PLACES_MAX   511u /* as many ranges as the BPF programs have room for */
#define HOT_PLACES_USERS 8u

/* The first place of each process that was ranked is empty. */
struct hot_place {
	int32_t pid;         /* 0: of the kernel */
	uint64_t object;     /* hot_places_object(); 0: start and end are addresses */
	uint64_t start, end; /* offsets in the object; the end is exclusive */
};

struct hot_places {
	size_t n, n_cold_users;
	struct hot_place rows[HOT_PLACES_MAX]; /* those of a process are neighbours */
	/* Users whose processes are cold unless they were ranked. */
	uint32_t cold_users[HOT_PLACES_USERS];
};

/*
 * *@ret, on the heap: the functions of the finalized @profile that hold at least @share. Code of an
 * object without functions is one: from the first address that was sampled to the last. Where there
 * is no room for all processes, it ranks those with the most samples. 0 or -ENOMEM.
 *
 * Short-lived processes that are counted as one cannot be ranked: when the next ones like them
 * start, nobody knows their addresses. Where most samples of a user's were in functions with a
 * smaller share, the user's next ones are cold.
 */
int hot_places_rank(struct hot_places **ret, const struct profile *profile, double share);

/*
 * A hash of what tells an object that a process maps from its others: the kind and the path alone,
 * as a profile that is named has the build-id of a trusted file in place of its device and inode.
 */
uint64_t hot_places_object(const struct profile_object *object);
