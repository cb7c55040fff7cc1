/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/migrate.h"

#include "common/util/macro.h"
#include "daemon/database/counters.h"
#include "daemon/database/schema.h"

#define OLDEST 4

static const char drop_views[] =
#include "daemon/database/drop-views.sql.inc"
	;

static const char from_version_4[] =
#include "daemon/database/migrate-4.sql.inc"
	;

static const char from_version_5[] =
#include "daemon/database/migrate-5.sql.inc"
	;

static const char from_version_6[] =
#include "daemon/database/migrate-6.sql.inc"
	;

static const char from_version_7[] =
#include "daemon/database/migrate-7.sql.inc"
	;

static const char from_version_8[] =
#include "daemon/database/migrate-8.sql.inc"
	;

/* Each leads from its version to the next one. */
static const char *const steps[] = { from_version_4, from_version_5, from_version_6, from_version_7,
				     from_version_8 };

_Static_assert(OLDEST + ARRAY_SIZE(steps) == STORE_VERSION, "a step is missing");

bool store_migrate_is_possible(int64_t version)
{
	return version >= OLDEST && version < STORE_VERSION;
}

static int convert(struct database *database, int64_t version)
{
	int r;

	r = database_begin_writing(database);
	if (r >= 0)
		r = database_run(database, drop_views);
	for (int64_t from = version; r >= 0 && from < STORE_VERSION; from++)
		r = database_run(database, steps[from - OLDEST]);
	if (r >= 0)
		r = store_schema_create_views(database);
	if (r >= 0)
		r = store_counters_describe(database);
	if (r >= 0)
		r = database_commit(database);
	if (r < 0)
		database_roll_back(database);
	return r;
}

int store_migrate(struct database *database, int64_t version)
{
	int r, q;

	/* such as a user's view of one of the views, or of a table that is gone */
	r = database_tolerate_views(database, true);
	if (r >= 0)
		r = convert(database, version);
	q = database_tolerate_views(database, false);
	return r < 0 ? r : q;
}
