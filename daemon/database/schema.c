/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/schema.h"

static const char tables[] =
#include "daemon/database/schema.sql.inc"
	;

static const char views[] =
#include "daemon/database/views.sql.inc"
	;

int store_schema_create_views(struct database *database)
{
	return database_run(database, views);
}

int store_schema_create(struct database *database)
{
	int r;

	/* only before the first table is made, and outside of transactions */
	r = database_run(database, "PRAGMA auto_vacuum = INCREMENTAL");
	if (r >= 0)
		r = database_begin_writing(database);
	if (r >= 0)
		r = database_run(database, tables);
	if (r >= 0)
		r = store_schema_create_views(database);
	if (r >= 0)
		r = database_commit(database);
	if (r < 0)
		database_roll_back(database);
	return r;
}
