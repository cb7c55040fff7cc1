/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Databases of earlier versions. A user's windows outlive an upgrade: a database of one of
 * the versions from 4 on is converted in place, version by version, when it is opened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"

/* Whether a database of @version can be converted to STORE_VERSION. */
bool store_migrate_is_possible(int64_t version);

/*
 * Converts a database of @version, for which that is possible, in one transaction. It takes no
 * longer for a large database. 0 or -errno; then, as after a crash, the database is what it was.
 */
int store_migrate(struct database *database, int64_t version);
