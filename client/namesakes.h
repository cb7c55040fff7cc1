/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Namesakes: the functions of one name in the old and in the new of two programs, and which of the old is which
 * of the new. A name may stand for several, as static functions of several files do.
 *
 * Functions of one side with one fingerprint are taken for one, the first. Of the two sides those of one fingerprint
 * go together; then, where one of the two has no fingerprint, those of one size; then what is left, in its order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/side.h"
#include "common/profile/profile.h"

struct namesake {
	const struct profile_function *function;
	const struct profile_function *own;   /* what it is taken for, on its own side */
	const struct profile_function *other; /* what that is on the other, or NULL: nothing */
	bool changed;                         /* it is, but with other code */
};

struct namesakes {
	struct namesake *rows[N_SIDES];
	size_t n[N_SIDES], cap[N_SIDES];
};

/* All zeroes is one without any. @function is borrowed. 0 or -ENOMEM. */
int namesakes_add(struct namesakes *namesakes, enum side side,
		  const struct profile_function *function);
void namesakes_done(struct namesakes *namesakes);

/* To be called when all are there: fills in the rest of each. */
void namesakes_match(struct namesakes *namesakes);

/* The row of @function; it must be there. */
const struct namesake *namesakes_find(const struct namesakes *namesakes, enum side side,
				      const struct profile_function *function);

/* True if any is there with other code. */
bool namesakes_changed(const struct namesakes *namesakes);
