/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/migrate.h"

#include "daemon/store/counters.h"
#include "daemon/store/schema.h"

static const char from_version_4[] =
#include "daemon/store/migrate-4.sql.inc"
	;

bool store_migrate_is_possible(int64_t version)
{
	return version == 4;
}

static int convert(struct database *database)
{
	int r;

	r = database_begin_writing(database);
	if (r >= 0)
		r = database_run(database, from_version_4);
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

int store_migrate(struct database *database)
{
	int r, q;

	/* such as a user's view of one of the views, or of a table that is gone */
	r = database_tolerate_views(database, true);
	if (r >= 0)
		r = convert(database);
	q = database_tolerate_views(database, false);
	return r < 0 ? r : q;
}
