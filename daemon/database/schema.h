/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables (schema.sql) and the views (views.sql) of the store's database. */
#pragma once

#include "daemon/database/database.h"

#define STORE_APPLICATION_ID 0x62726e64 /* "brnd"; schema.sql has these, too */
#define STORE_VERSION        9

/* Makes the tables and the views of an empty database, in one transaction. 0 or -errno. */
int store_schema_create(struct database *database);
/* Makes the views, in a transaction of the caller. 0 or -errno. */
int store_schema_create_views(struct database *database);
