/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's counts of functions, objects or processes: of many windows, in parts of their time.
 * The daemon keeps them with each window, so that the reply comes soon however many windows it
 * covers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

enum functions_by {
	FUNCTIONS_BY_FUNCTION,
	FUNCTIONS_BY_OBJECT,
	FUNCTIONS_BY_PROCESS,
	FUNCTIONS_BY_COMM,
	FUNCTIONS_BY_UNIT,
	FUNCTIONS_BY_USER,
	FUNCTIONS_BY_PROGRAM, /* of the processes of one name and executable, the hottest stands
				 for all; those of an open window may be apart */
	N_FUNCTIONS_BY,
};

/*
 * Of the profile: a function, or all of an object that is in none; both PROFILE_NONE: no object. By
 * object: an object. By process: a process, where PROFILE_NONE is that of no process; by comm, unit
 * or user what stands for all such processes.
 */
struct functions_place {
	uint32_t object, function, process;
};

/* What a place counted in a part. */
struct functions_row {
	uint64_t place;            /* its index */
	uint64_t self, total;      /* samples */
	uint64_t calls;            /* branches to its start from outside of it */
	uint64_t runs, timed_runs; /* of blocks that start in it: all, those with cycles */
	uint64_t cycles;
	uint64_t variance; /* what estimating adds to that of @total */
};

struct functions_part {
	uint64_t samples; /* of the whole part */
	struct functions_row *rows;
	size_t n_rows, cap_rows;
};

struct functions {
	enum functions_by by;
	struct profile *profile; /* only its objects, functions, processes and counters count */
	bool are_numbered; /* functions have a number in place of their start, which is not known */
	struct functions_place *places;
	size_t n_places;
	size_t n_left_out; /* places with fewer samples, see struct daemon_api_request */
	struct functions_part *parts;
	size_t n_parts;
};

/* The members of GetFunctions's reply, as texts of JSON. */
struct functions_texts {
	enum functions_by by; /* as it was asked for */
	const char *profile, *places, *parts;
	size_t n_profile, n_places, n_parts;
};

/* -EINVAL and @fault if a text is invalid; -ENOMEM. */
int functions_read(struct functions **ret, const struct functions_texts *texts,
		   struct fault *fault);
struct functions *functions_free(struct functions *functions);
DEFINE_CLEANUP(struct functions *, functions_free);
