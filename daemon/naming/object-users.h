/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes use the objects of a profile, and which objects have most of its samples. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define OBJECT_USERS_MAX 4

struct object_users {
	int32_t pids[OBJECT_USERS_MAX]; /* 0: none */
	uint64_t heat;                  /* samples and branches in it */
	bool is_hot;                    /* with the hotter ones it has 9 of 10 */
	uint32_t uid;                   /* of the process; UINT32_MAX: unknown, or several */
	bool has_uid;                   /* else the uid is not set yet */
};

/*
 * Fills in @users, zeroed, one for each object of @profile. *@ret has the numbers of the objects,
 * the hottest first, for the caller to free. 0 or -ENOMEM.
 */
int object_users_rank(const struct profile *profile, struct object_users *users, uint32_t **ret);
