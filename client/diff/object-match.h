/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches the objects of two profiles: a program or library may differ in build-id, path and
 * addresses.
 *
 * The objects of one path and kind have one *object identity*, whatever was there at what time.
 * Identities of two profiles match by, in this order: their path; a common build-id; the last
 * component of the path; that component without a version ("libdemo-1.2.so" and "libdemo.so.1");
 * and for the remaining programs by the names of their functions, of which main() is none. Each is
 * matched once; among several candidates the one with most samples.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/stats/side.h"
#include "common/profile/profile.h"
#include "common/util/macro.h"

struct object_match;

/* Borrows @profiles, which are finalized. 0 or -ENOMEM. */
int object_match_new(struct object_match **ret, const struct profile *const profiles[N_SIDES]);
struct object_match *object_match_free(struct object_match *match);
DEFINE_CLEANUP(struct object_match *, object_match_free);

/*
 * (*@ret)[i] is the identity's number of object i of @profile; matching identities have one number.
 * The caller frees *@ret. @profile is that side's, or of a part of its time. 0 or -ENOMEM.
 */
int object_match_number(const struct object_match *match, enum side side,
			const struct profile *profile, uint32_t **ret);

/* The identity's number of a process's executable; PROFILE_NONE if it is unknown; or -ENOMEM. */
int64_t object_match_find_program(const struct object_match *match, enum side side,
				  const char *path);
