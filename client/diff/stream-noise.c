/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/stream-noise.h"

#include <math.h>
#include <stdlib.h>

#include "common/profile/scale.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* Sets the object to that of the whole profile. False if the whole does not have it. */
static bool map_location(struct location *at, const uint32_t *objects)
{
	if (at->object != PROFILE_NONE) {
		at->object = objects[at->object];
		return at->object != PROFILE_NONE;
	}
	return true;
}

/* A filter may have removed objects from the whole: their nodes match none. */
static void map_nodes(struct view_streams *view, const uint32_t *objects)
{
	for (size_t i = 0; i < view->n_nodes; i++)
		if (!map_location(&view->nodes[i].from, objects) ||
		    !map_location(&view->nodes[i].to, objects))
			view->nodes[i].from = view->nodes[i].to =
				(struct location){ PROFILE_NONE, 0 };
}

int stream_noise_view_part(struct view_streams **ret, const struct comparison *with, enum side side,
			   size_t part)
{
	_cleanup_free_ uint32_t *objects = NULL;
	int r = comparison_map_part(with, side, part, &objects);

	if (r >= 0)
		r = view_streams(ret, with->sources[side]->parts[part].shown);
	if (r >= 0)
		map_nodes(*ret, objects);
	return r;
}

static double get_share(uint64_t count, uint64_t all)
{
	return all > 0 ? (double)count / (double)all : 0;
}

/* The samples certainly of this path; on the side that has less, plus the error bound of streams.
 */
static struct significance_counts sure_counts(const struct diff_stream *row,
					      const struct comparison *with,
					      const struct diff_parts *parts, enum side side,
					      size_t number)
{
	const struct profile_source *source = with->sources[side];
	const struct diff_stream_end *ends = row->ends;
	uint64_t sure[N_SIDES], totals[N_SIDES];
	struct significance_counts counts;

	for (int i = 0; i < N_SIDES; i++) {
		sure[i] = ends[i].hits - ends[i].pruned;
		totals[i] = with->sources[i]->all->counters.samples;
	}
	if (get_share(sure[side], totals[side]) < get_share(sure[!side], totals[!side]))
		sure[side] += MIN(source->all->counters.streams_error, totals[side] - sure[side]);
	counts = (struct significance_counts){
		.count = sure[side],
		.total = totals[side],
		.unit = profile_row_unit(&source->all->counters, ends[side].hits,
					 ends[side].variance),
	};
	diff_parts_get(parts, side, number, &counts);
	return counts;
}

void stream_noise_test(struct diff_stream *row, const struct comparison *with,
		       const struct diff_parts *parts, size_t number)
{
	struct significance_counts shown[N_SIDES], sure[N_SIDES];
	struct significance noise;

	for (int side = 0; side < N_SIDES; side++) {
		sure[side] = sure_counts(row, with, parts, (enum side)side, number);
		shown[side] = sure[side];
		shown[side].count = row->ends[side].hits;
	}
	significance_test(&row->share, shown);
	significance_test(&noise, sure);
	row->p_value = noise.p_value;
	/* The error bound may make the difference smaller, but may not reverse it. */
	row->has_enough_data =
		noise.has_enough_data && (noise.difference > 0) == (row->share.difference > 0);
}

static double p_value_of(const void *rows, size_t i)
{
	const struct diff_stream *row = (const struct diff_stream *)rows + i;

	return row->has_enough_data ? row->p_value : -1;
}

int stream_noise_control(struct diff_streams *streams)
{
	double limit;
	int r = diff_control(streams->rows, streams->n_rows, p_value_of, &limit);

	for (size_t i = 0; r >= 0 && i < streams->n_rows; i++) {
		streams->rows[i].significant =
			diff_is_significant(p_value_of(streams->rows, i), limit);
		streams->n_significant += streams->rows[i].significant;
	}
	return r;
}

static void drop_small(struct diff_streams *streams, double percent)
{
	size_t n = 0;

	for (size_t i = 0; i < streams->n_rows; i++) {
		const double *shares = streams->rows[i].share.shares;

		if (streams->rows[i].significant ||
		    100 * fmax(shares[SIDE_OLD], shares[SIDE_NEW]) >= percent)
			streams->rows[n++] = streams->rows[i];
	}
	streams->n_rows = n;
}

static int compare_rows(const void *p, const void *q)
{
	const struct diff_stream *a = p, *b = q;
	enum side x = diff_stream_side(a), y = diff_stream_side(b);
	double left = fmax(a->share.shares[SIDE_OLD], a->share.shares[SIDE_NEW]);
	double right = fmax(b->share.shares[SIDE_OLD], b->share.shares[SIDE_NEW]);

	RETURN_UNLESS_EQUAL(COMPARE(a->section, b->section));
	RETURN_UNLESS_EQUAL(COMPARE(right, left));
	return COMPARE(a->ends[x].node, b->ends[y].node);
}

void stream_noise_choose(struct diff_streams *streams, double percent)
{
	drop_small(streams, percent);
	if (streams->n_rows > 0)
		qsort(streams->rows, streams->n_rows, sizeof(*streams->rows), compare_rows);
}
