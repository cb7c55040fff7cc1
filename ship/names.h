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

/*
 * The ids whose names were written, from the start of an hour on: after that they are written
 * again, because a batch may have been dropped.
 */
struct names_seen;

int names_seen_new(struct names_seen **ret);
struct names_seen *names_seen_free(struct names_seen *seen);
DEFINE_CLEANUP(struct names_seen *, names_seen_free);
/* Those of a batch that was not kept: all are written again. */
void names_seen_forget(struct names_seen *seen);

/*
 * Rows of the table "names" for a window that starts at @start_us: those that names_find() gave and
 * @seen has not. -ENOMEM.
 */
int names_write(const struct names *names, struct names_seen *seen, uint64_t start_us, FILE *f);
