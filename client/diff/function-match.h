/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Namesakes: the functions of one name in the old and in the new of two programs, and which of the
 * old is which of the new. A name may stand for several, as static functions of several files do.
 *
 * Functions of one side with one fingerprint are taken for one, the first. Of the two sides those
 * of one fingerprint go together; then, where one of the two has no fingerprint, those of one size;
 * then what is left, in its order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/stats/side.h"
#include "common/profile/profile.h"

struct function_match {
	const struct profile_function *function;
	const struct profile_function *own;   /* what it is taken for, on its own side */
	const struct profile_function *other; /* what that is on the other, or NULL: nothing */
	bool changed;                         /* it is, but with other code */
};

struct function_matches {
	struct function_match *rows[N_SIDES];
	size_t n[N_SIDES], cap[N_SIDES];
};

/* All zeroes is one without any. @function is borrowed. 0 or -ENOMEM. */
int function_matches_add(struct function_matches *namesakes, enum side side,
			 const struct profile_function *function);
void function_matches_done(struct function_matches *namesakes);

/* To be called when all are there: fills in the rest of each. */
void function_matches_match(struct function_matches *namesakes);

/* The row of @function; it must be there. */
const struct function_match *function_matches_find(const struct function_matches *namesakes,
						   enum side side,
						   const struct profile_function *function);

/* True if any is there with other code. */
bool function_matches_changed(const struct function_matches *namesakes);
