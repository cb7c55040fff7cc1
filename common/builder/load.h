/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole recording as a profile: joins recording, processes and builder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/builder/function-finder.h"
#include "common/builder/unwinder.h"
#include "common/profile/profile.h"
#include "common/record/recording.h"
#include "common/util/fault.h"

struct load_settings {
	bool force;                      /* use what precedes the damage */
	bool no_stitch;                  /* call stacks from each sample's own records only */
	unsigned int tables;             /* that the profile has, see tables.h; 0: all */
	bool sum_processes;              /* branches and blocks are of all processes together */
	const char *event;               /* the event to count; NULL: the first one that samples */
	struct unwinder_settings unwind; /* without get_table, no stacks are unwound */
	void (*progress)(uint64_t done, uint64_t all, void *userdata); /* or NULL */
	void *userdata;
	/* Where functions are, for stitching; or NULL. */
	object_function_finder find_function;
	void *functions; /* for it */
};

/*
 * *@ret is the profile of the recording at @path, not finalized and without functions. -errno and
 * @fault, one line for the user, where the recording cannot be read. *@ret_damage describes damage
 * that @force has skipped; its fault is empty otherwise. *@ret_others names the other events that
 * were sampled and not counted, for the user; NULL where there are none. The caller frees it.
 */
int load_profile(struct profile **ret, const char *path, const struct load_settings *settings,
		 struct recording_damage *ret_damage, char **ret_others, struct fault *fault);

/*
 * The source whose samples count: the one named @event ("NAME#2" for the second of a name), or with
 * NULL the first one that samples. Its number, or -ENOENT with @fault naming the events that exist.
 */
int64_t load_choose_source(const struct recording *recording, const char *event,
			   struct fault *fault);

/* "a, b": the names of the sources that sample, except number @but; "" if there are none. Heap, or
 * NULL. */
char *load_join_names(const struct recording *recording, int64_t but);
