/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches the functions of one name in two versions of a program. Several functions may have one
 * name, such as static functions of several files.
 *
 * Functions of one side with equal fingerprints count as one, the first. Functions of the two sides
 * match by fingerprint; then, where one of the two has no fingerprint, by size; then in their
 * order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/stats/side.h"
#include "common/profile/profile.h"

struct function_match {
	const struct profile_function *function;
	const struct profile_function *own;   /* the first of its side with the same fingerprint */
	const struct profile_function *other; /* its match on the other side, or NULL */
	bool changed;                         /* the match has different code */
};

struct function_matches {
	struct function_match *rows[N_SIDES];
	size_t n[N_SIDES], cap[N_SIDES];
};

/* An empty struct is all zeroes. @function is borrowed. 0 or -ENOMEM. */
int function_matches_add(struct function_matches *matches, enum side side,
			 const struct profile_function *function);
void function_matches_done(struct function_matches *matches);

/* Call it once all functions are added: fills in the other fields of each. */
void function_matches_match(struct function_matches *matches);

/* The row of @function, which must have been added. */
const struct function_match *function_matches_find(const struct function_matches *matches,
						   enum side side,
						   const struct profile_function *function);

/* True if any function of the old side matches one with different code, or if one side has, beside
 * the function that matches, that of another build with different code. */
bool function_matches_changed(const struct function_matches *matches);
