/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/insert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_id(const struct insert *insert, const struct batch *batch, enum batch_table table,
		   char *ret, size_t n)
{
	snprintf(ret, n, "branchd-%.128s-%s-%" PRIu64 "-%" PRIu64 "-%" PRId64, insert->host,
		 batch_table_name(table), batch->first_us, batch->last_us, batch->last_id);
}

static int end_query(const struct insert *insert, const char *id, struct fault *fault)
{
	char text[1024];
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fputs("KILL QUERY WHERE query_id = ", f);
	clickhouse_put_string(f, id);
	fputs(" SYNC", f);
	fclose(f);
	return clickhouse_ask(insert->clickhouse, &(struct clickhouse_query){ .text = text }, NULL,
			      fault);
}

/* Whether the server has the rows of that batch: 1 or 0; or -errno and @fault. */
static int is_there(const struct insert *insert, const struct batch *batch, enum batch_table table,
		    struct fault *fault)
{
	char text[2048], *answer;
	FILE *f = fmemopen(text, sizeof(text), "w");
	int r;

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fprintf(f, "SELECT count() FROM %s.%s_rows WHERE host = ", insert->database,
		batch_table_name(table));
	clickhouse_put_string(f, insert->host);
	fprintf(f,
		" AND window BETWEEN %" PRIu64 " AND %" PRIu64 " AND day = toDate(%" PRIu64
		") AND id BETWEEN %" PRId64 " AND %" PRId64 " FORMAT TabSeparated",
		batch->first_us, batch->last_us, batch_day(batch->first_us), batch->first_id,
		batch->last_id);
	fclose(f);
	r = clickhouse_ask(insert->clickhouse, &(struct clickhouse_query){ .text = text }, &answer,
			   fault);
	if (r < 0)
		return r;
	if (answer[strspn(answer, "0123456789")] != '\n')
		return fault_set(fault, -EREMOTEIO,
				 "the server answered no number: is it ClickHouse?");
	return strtoull(answer, NULL, 10) > 0;
}

int insert_table(const struct insert *insert, const struct batch *batch, enum batch_table table,
		 bool unsure, struct fault *fault)
{
	char text[512], id[512];
	int r = 0;

	put_id(insert, batch, table, id, sizeof(id));
	if (unsure && table != BATCH_NAMES) { /* names are no counts: twice is once */
		r = end_query(insert, id, fault);
		r = r < 0 ? r : is_there(insert, batch, table, fault);
	}
	if (r != 0)
		return r;
	snprintf(text, sizeof(text), "INSERT INTO %s.%s_rows FORMAT TabSeparated", insert->database,
		 batch_table_name(table));
	return clickhouse_ask(insert->clickhouse,
			      &(struct clickhouse_query){
				      .text = text,
				      .id = id,
				      .body = batch->texts[table],
				      .n_body = batch->sizes[table],
				      .is_gzip = true,
			      },
			      NULL, fault);
}
