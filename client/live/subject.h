/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the screens of one function are about, by names: profiles come and go. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define LIVE_NAME_MAX 1024

struct live_subject {
	char symbol[LIVE_NAME_MAX]; /* "": the code of the object that is in no function */
	char object[LIVE_NAME_MAX]; /* the path */
	uint64_t start;             /* tells functions of one name and object from each other */
	uint8_t build_id[PROFILE_BUILD_ID_MAX], n_build_id; /* 0: not known yet */
};

/* Of the code at @at. False if that is in no object, or its names are too long. */
bool live_subject_set(struct live_subject *ret, const struct profile *profile, struct location at);

/* Whether it is the function; @function may be NULL: code of @object in none. */
bool live_subject_is(const struct live_subject *subject, const struct profile_object *object,
		     const struct profile_function *function);

/* Its function in the finalized @profile; NULL: it is not there, or has no symbol. */
const struct profile_function *live_subject_find(const struct live_subject *subject,
						 const struct profile *profile);
