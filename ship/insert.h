/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inserts batches into the tables of ClickHouse, each once. Where it is not known whether the
 * server has one - no answer came, or the program was restarted - the query that may still run
 * there is ended, and then the server is asked whether the rows are there: an insert of one batch
 * is there as a whole or not at all.
 */
#pragma once

#include <stdbool.h>

#include "client/clickhouse/clickhouse.h"
#include "ship/batch.h"

struct insert {
	struct clickhouse *clickhouse;
	const char *database, *host;
};

/* @unsure: it may be there. -errno and @fault: it may be there or not. */
int insert_table(const struct insert *insert, const struct batch *batch, enum batch_table table,
		 bool unsure, struct fault *fault);
