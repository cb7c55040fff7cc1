/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which objects of one profile are which of another: the same program or library in two versions,
 * whose build-id, path and place in memory may all be others.
 *
 * Objects of one path (and kind) are one *thing*, whatever was there at what time. Things of two
 * profiles are paired by, in this order: their path; a build-id of both; the last component of the
 * path; that without a version ("libdemo-1.2.so" and "libdemo.so.1"); and what is left of programs
 * by the names of their functions. Of several the one with most samples is taken first, and each
 * once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/stats/side.h"
#include "common/profile/profile.h"
#include "common/util/macro.h"

struct object_match;

/* @profiles are borrowed: sealed, of the old side and the new one. 0 or -ENOMEM. */
int object_match_new(struct object_match **ret, const struct profile *const profiles[N_SIDES]);
struct object_match *object_match_free(struct object_match *pairing);
DEFINE_CLEANUP(struct object_match *, object_match_free);

/*
 * (*@ret)[i] is the number of the thing that object i of @profile is, the same for both things of a
 * pair; for the caller to free. @profile is that side's, or of a part of its time. 0 or -ENOMEM.
 */
int object_match_number(const struct object_match *pairing, enum side side,
			const struct profile *profile, uint32_t **ret);

/* That of a process's executable: PROFILE_NONE where there is none such, or -ENOMEM. */
int64_t object_match_find_program(const struct object_match *pairing, enum side side,
				  const char *path);
