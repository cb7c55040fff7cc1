/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster-hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

void cluster_hosts_done(struct cluster_hosts *hosts)
{
	for (size_t i = 0; i < hosts->n; i++) {
		windows_done(&hosts->rows[i].windows);
		free(hosts->rows[i].name);
	}
	free(hosts->rows);
	free(hosts->event);
	*hosts = (struct cluster_hosts){};
}

/* The cells of a row behind the name. */
static int read_window(struct window_info *ret, char *const *cells)
{
	uint64_t n, end_us;
	uint64_t *const numbers[] = {
		&n, &ret->samples, &ret->lost, &ret->length_us, &ret->start_us, &end_us
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(numbers); i++)
		r = tsv_number(cells[1 + i], numbers[i]);
	snprintf(ret->mode, sizeof(ret->mode), "%s",
		 strcmp(cells[9], cells[10]) == 0 ? cells[9] : "mixed");
	return r;
}

/* One event, or none where they differ. */
static int note_event(struct cluster_hosts *hosts, const char *least, const char *most)
{
	bool is_same = strcmp(least, most) == 0;

	if (hosts->n > 0 && (!hosts->event || (is_same && strcmp(hosts->event, least) == 0)))
		return 0;
	free(TAKE_PTR(hosts->event));
	if (hosts->n > 0 || !is_same)
		return 0;
	hosts->event = strdup(least);
	return hosts->event ? 0 : -ENOMEM;
}

static int add(struct cluster_hosts *hosts, char *const *cells)
{
	struct profile_source_host host = { .answered = true };
	struct window_info window = {};
	int r = read_window(&window, cells);

	r = r < 0 ? r : note_event(hosts, cells[7], cells[8]);
	r = r < 0 ? r : ARRAY_RESERVE(&hosts->rows, &hosts->cap, hosts->n + 1);
	r = r < 0 ? r : windows_add(&host.windows, &window);
	if (r < 0)
		return r;
	hosts->lost += window.lost;
	host.name = strdup(cells[0]);
	hosts->rows[hosts->n++] = host;
	return host.name ? 0 : -ENOMEM;
}

static int read_rows(struct cluster_hosts *hosts, struct tsv *rows)
{
	char *cells[CLUSTER_HOSTS_CELLS];
	int more, r = 0;

	while (r >= 0 && (more = tsv_next(rows, cells, CLUSTER_HOSTS_CELLS)) > 0)
		r = add(hosts, cells);
	return r < 0 ? r : more;
}

int cluster_hosts_load(struct cluster_hosts *ret, struct cluster *cluster,
		       const struct cluster_where *where, struct fault *fault)
{
	_cleanup_free_ char *sql = cluster_sql_hosts(where);
	uint64_t start_us = clock_us(CLOCK_MONOTONIC);
	struct tsv rows;
	int r;

	if (!sql)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = cluster_ask(cluster, sql, &rows, fault);
	if (r < 0)
		return r;
	r = read_rows(ret, &rows);
	if (r == -EBADMSG)
		return cluster_refuse_answer(cluster, fault);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	for (size_t i = 0; i < ret->n; i++)
		ret->rows[i].took_us = clock_us(CLOCK_MONOTONIC) - start_us;
	return 0;
}

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct profile_source_host *)row)->name);
}

int64_t cluster_hosts_find(const struct cluster_hosts *hosts, const char *name)
{
	const struct profile_source_host *row =
		hosts->n > 0 ? bsearch(name, hosts->rows, hosts->n, sizeof(*row), compare) : NULL;

	return row ? row - hosts->rows : -ENOENT;
}
