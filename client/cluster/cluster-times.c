/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster-times.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

void cluster_times_done(struct cluster_times *times)
{
	cluster_scope_done(&times->scope);
	free(times->n_windows);
}

/* The largest grain of which a part would have one at least. */
static enum cluster_grain choose_grain(struct cluster_time span, size_t n_wanted)
{
	int grain = N_CLUSTER_GRAINS - 1;

	while (grain > CLUSTER_MINUTE &&
	       (span.end - span.start) / n_wanted < cluster_grain_s((enum cluster_grain)grain))
		grain--;
	return (enum cluster_grain)grain;
}

static void divide(struct cluster_times *times, size_t n_wanted)
{
	struct cluster_where *where = &times->question.where;
	enum cluster_grain grain = choose_grain(where->span, n_wanted);
	uint64_t s = cluster_grain_s(grain), length;

	where->coarsest = grain;
	where->span.start = where->span.start / s * s;
	where->span.end = (where->span.end + s - 1) / s * s;
	length = where->span.end - where->span.start;
	times->question.parts = CLUSTER_PART_TIME;
	times->question.part_s = (length + n_wanted * s - 1) / (n_wanted * s) * s;
	times->n = (length + times->question.part_s - 1) / times->question.part_s;
}

static int read_windows(struct cluster_times *times, struct tsv *rows)
{
	uint64_t part, n;
	char *cells[2];
	int more;

	while ((more = tsv_next(rows, cells, 2)) > 0) {
		if (tsv_number(cells[0], &part) < 0 || tsv_number(cells[1], &n) < 0 ||
		    part >= times->n)
			return -EBADMSG;
		times->n_windows[part] += n;
	}
	return more;
}

static int count_windows(struct cluster_times *times, struct fault *fault)
{
	_cleanup_free_ char *sql = cluster_sql_windows(&times->question);
	uint64_t n = 0;
	struct tsv rows;
	int r;

	times->n_windows = calloc(times->n, sizeof(*times->n_windows));
	if (!sql || !times->n_windows)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = cluster_ask(times->scope.cluster, sql, &rows, fault);
	if (r < 0)
		return r;
	if (read_windows(times, &rows) < 0)
		return cluster_refuse_answer(times->scope.cluster, fault);
	for (size_t i = 0; i < times->n; i++)
		n += times->n_windows[i];
	return n > 0 ? 0 : fault_set(fault, -ENOENT, "no host has sent windows of that time");
}

int cluster_times_open(struct cluster_times *ret, const struct cluster_source_settings *settings,
		       size_t n_wanted, struct fault *fault)
{
	int r;

	*ret = (struct cluster_times){};
	r = cluster_scope_open(&ret->scope, settings, fault);
	if (r < 0)
		return r;
	ret->question.where = ret->scope.where;
	divide(ret, n_wanted);
	return count_windows(ret, fault);
}

int cluster_times_count(struct functions **ret, struct cluster_times *times, enum cluster_by by,
			bool all_units, struct fault *fault)
{
	struct cluster_question question = times->question;
	const struct cluster_counts_settings counts = { .question = &question,
							.n_times = times->n };

	question.by = by;
	if (all_units)
		question.where.units = NULL;
	return cluster_counts_load(ret, times->scope.cluster, &counts, fault);
}
