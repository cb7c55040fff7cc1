/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places in code as an id and an offset. The id is the same on all hosts; but those in objects
 * without a build-id, or whose build-id is the choice of somebody but root, are of @host alone.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

struct names;

struct name_place {
	uint64_t id, offset;
};

/* Borrows the finalized @profile. -ENOMEM. */
int names_new(struct names **ret, const struct profile *profile, const char *host);
struct names *names_free(struct names *names);
DEFINE_CLEANUP(struct names *, names_free);

struct name_place names_find(struct names *names, struct location at);

/* Rows of the table "names": those that names_find() gave. */
void names_write(const struct names *names, uint64_t day, FILE *f);
