/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon tells of functions alone: the view by function of many windows, ready made, in
 * parts of their time. The daemon keeps it with each window, so that it comes soon however many
 * windows they are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/view/call-cost.h"
#include "client/view/shares.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct functions_part {
	struct functions_count {
		uint64_t self, total;
	} * counts;       /* of each row of all */
	uint64_t samples; /* of all of it */
};

struct functions {
	struct profile *profile; /* objects, functions and counters; its stacks mean nothing */
	struct shares *all;      /* keys are of the profile */
	struct call_cost *works; /* of all, by function */
	struct functions_part *parts;
	size_t n_parts;
};

/*
 * Reads the values of the members of GetFunctions's reply that are called so, each a text of JSON.
 * -EINVAL and @fault where they are not what they should be; -ENOMEM.
 */
struct functions_texts {
	const char *profile, *places, *parts;
	size_t n_profile, n_places, n_parts;
};
int functions_read(struct functions **ret, const struct functions_texts *texts,
		   struct fault *fault);
struct functions *functions_free(struct functions *functions);
DEFINE_CLEANUP(struct functions *, functions_free);
