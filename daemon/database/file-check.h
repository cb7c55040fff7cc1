/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of the whole database: by SQLite, that its pages and rows are as they should be, and by
 * what schema.sql promises of all that windows refer to. What is found is added to the problems.
 *
 * Each takes some seconds of a large database, in a transaction of its own. 0 or -errno: it could
 * not be made; -EINTR: database_stop() was called.
 */
#pragma once

#include "daemon/database/database.h"
#include "daemon/database/problems.h"

int file_check_pages(struct database *database, struct problems *problems);
/* What rows refer to is there. */
int file_check_references(struct database *database, struct problems *problems);
/* No row was seen later than one that it refers to, and parents come first. */
int file_check_seen(struct database *database, struct problems *problems);

/*
 * The answer @r of a check of @where: damage, which ended it, is a problem, and then the answer
 * is 0.
 */
int file_check_note(struct database *database, int r, const char *where, struct problems *problems);
