/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/clickhouse/clickhouse.h"
#include "common/util/cleanup.h"

#define TIMEOUT_S  120
#define MAX_ANSWER ((size_t)512 << 20)

/* The answer comes as a whole or as an error; lists of names make long questions. */
#define SETTINGS "wait_end_of_query=1&max_query_size=4194304&max_execution_time=120"

struct cluster {
	struct clickhouse *clickhouse;
	const char *url; /* borrowed */
	bool has_all;
};

struct cluster *cluster_free(struct cluster *cluster)
{
	if (!cluster)
		return NULL;
	clickhouse_free(cluster->clickhouse);
	free(cluster);
	return NULL;
}

bool cluster_has_all(const struct cluster *cluster)
{
	return cluster->has_all;
}

int cluster_refuse_answer(const struct cluster *cluster, struct fault *fault)
{
	return fault_set(fault, -EBADMSG,
			 "%s: the answer is not what was asked for: is that ClickHouse with the "
			 "tables of branchd-ship(8)?",
			 cluster->url);
}

int cluster_ask(struct cluster *cluster, const char *sql, struct tsv *ret, struct fault *fault)
{
	const struct clickhouse_query query = { .text = sql, .settings = SETTINGS };
	int r = clickhouse_ask(cluster->clickhouse, &query, &ret->at, fault);

	if (r == -EMSGSIZE)
		return fault_set(fault, r,
				 "%s: the answer has more than %zu MiB: ask for a shorter span, or "
				 "fewer hosts by --host",
				 cluster->url, MAX_ANSWER >> 20);
	return r;
}

static int find_tables(struct cluster *cluster, struct fault *fault)
{
	char *cell;
	struct tsv rows;
	uint64_t n;
	int r = cluster_ask(cluster, "EXISTS TABLE branchd.all_functions_day", &rows, fault);

	if (r < 0)
		return r;
	if (tsv_next(&rows, &cell, 1) < 1 || tsv_number(cell, &n) < 0 || n > 1)
		return cluster_refuse_answer(cluster, fault);
	cluster->has_all = n > 0;
	return 0;
}

int cluster_open(struct cluster **ret, const char *url, struct fault *fault)
{
	_cleanup_(cluster_freep) struct cluster *cluster = calloc(1, sizeof(*cluster));
	const struct clickhouse_settings settings = {
		.url = url,
		.netrc = true,
		.timeout_s = TIMEOUT_S,
		.max_answer = MAX_ANSWER,
	};
	int r;

	if (!cluster)
		return fault_set(fault, -ENOMEM, "out of memory");
	cluster->url = url;
	r = clickhouse_new(&cluster->clickhouse, &settings, fault);
	r = r < 0 ? r : find_tables(cluster, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(cluster);
	return 0;
}
