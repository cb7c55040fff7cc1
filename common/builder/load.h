/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole recording as a profile: recording, processes and builder joined.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/record/recording.h"
#include "common/util/fault.h"

struct load_settings {
	bool force;        /* show what came before the damage */
	bool no_stitch;    /* call stacks by each sample's own rows */
	const char *event; /* the event to count; NULL: the first that samples */
	void (*progress)(uint64_t done, uint64_t all, void *userdata); /* or NULL */
	void *userdata;
};

/*
 * *@ret is the profile of the recording at @path, unsealed and without functions. -errno and
 * @fault, one line for the user, where it cannot be read. Where it was read with force and damaged,
 * *@ret_damage says so, its fault is empty otherwise. Where several events were sampled,
 * *@ret_others gets the names of those not counted, for the user, or NULL (free it).
 */
int profile_load(struct profile **ret, const char *path, const struct load_settings *settings,
		 struct recording_damage *ret_damage, char **ret_others, struct fault *fault);

/*
 * The source whose samples count: the one named @event, of several of one name the second as
 * "NAME#2"; or where that is NULL the first that samples. Its number, or -ENOENT with @fault naming
 * those there are.
 */
int64_t load_choose_source(const struct recording *recording, const char *event,
			   struct fault *fault);

/* "a, b": the names of the sources that sample, but for number @but; "" if there are none. Heap, or
 * NULL. */
char *load_join_names(const struct recording *recording, int64_t but);
