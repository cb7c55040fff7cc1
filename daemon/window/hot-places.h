/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which code is hot: functions with a share of the samples of their process, or those of the kernel
 * with a share of all samples. A bounded list, for the collector, which knows where the objects of
 * a process are mapped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define HOT_PLACES_MAX 511u /* as many ranges as the BPF programs have room for */

/* The first place of each process that was ranked is empty. */
struct hot_place {
	int32_t pid;         /* 0: of the kernel */
	uint64_t object;     /* hot_places_object(); 0: start and end are addresses */
	uint64_t start, end; /* offsets in the object; the end is exclusive */
};

struct hot_places {
	bool others_cold; /* what is not of the kernel, nor of a process that was ranked */
	size_t n;
	struct hot_place rows[HOT_PLACES_MAX]; /* those of a process are neighbours */
};

/*
 * *@ret, on the heap: the functions of the finalized @profile that hold at least @share. Code of an
 * object without functions is one: from the first address that was sampled to the last. Where there
 * is no room for all processes, it ranks those with the most samples. Others are cold if most code
 * of processes that ended was: they are not ranked, and the next of their kind will be new. 0 or
 * -ENOMEM.
 */
int hot_places_rank(struct hot_places **ret, const struct profile *profile, double share);

/*
 * A hash of what tells an object that a process maps from its others: the kind and the path alone,
 * as a profile that is named has the build-id of a trusted file in place of its device and inode.
 */
uint64_t hot_places_object(const struct profile_object *object);
