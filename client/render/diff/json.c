/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/diff/json.h"

#include <errno.h>

#include "client/render/diff/words.h"
#include "client/render/json.h"
#include "client/render/share-name.h"
#include "client/render/stream-json.h"
#include "common/util/cleanup.h"

/* Enough digits for percentages. */
#define PRECISION JSON_REAL_PRECISION(9)

static json_t *json_percent(double share)
{
	return json_real(100 * share);
}

static json_t *json_interval(struct interval interval)
{
	return json_pack("[o, o]", json_percent(interval.low), json_percent(interval.high));
}

/* Null for 0, which means unknown. */
static json_t *json_known(double number)
{
	return number > 0 ? json_real(number) : json_null();
}

/* The row on one side: its names there, and its counts. */
static json_t *json_share_end(const struct diff *diff, const struct diff_share *row, enum side side)
{
	const struct diff_side *all = &diff->sides[side];
	const struct diff_share_end *end = &row->ends[side];
	json_t *json;

	if (!end->there)
		return json_null();
	json = share_name_json(&all->places, diff->by, &end->key);
	json_object_set_new(json, "self", json_integer((json_int_t)end->self));
	json_object_set_new(json, "total", json_integer((json_int_t)end->total));
	json_object_set_new(json, "self_percent", json_percent(row->self.shares[side]));
	json_object_set_new(json, "self_interval", json_interval(row->self.intervals[side]));
	json_object_set_new(json, "total_percent", json_percent(row->total.shares[side]));
	json_object_set_new(json, "total_interval", json_interval(row->total.intervals[side]));
	json_object_set_new(json, "per_second",
			    all->per_second < 0 ?
				    json_null() :
				    json_real(row->self.shares[side] * all->per_second));
	json_object_set_new(json, "per_call", json_known(end->per_call));
	return json;
}

static json_t *json_share(const struct diff *diff, size_t i)
{
	const struct diff_share *row = &diff->shares->rows[i];

	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:b, s:o}", "old",
			 json_share_end(diff, row, SIDE_OLD), "new",
			 json_share_end(diff, row, SIDE_NEW), "delta_percent",
			 json_percent(row->self.difference), "interval",
			 json_interval(row->self.interval), "significant", row->significant,
			 "total_delta_percent", json_percent(row->total.difference),
			 "total_interval", json_interval(row->total.interval), "total_significant",
			 row->total_significant, "reason", json_text(change_name(row->change)));
}

static json_t *json_location(const struct diff_side *side, struct location at)
{
	struct place place = place_find(&side->places, at);

	return json_place(&place);
}

static json_t *json_block_end(const struct diff *diff, const struct diff_block *row, enum side side)
{
	const struct diff_side *all = &diff->sides[side];
	const struct profile_block *block = &row->ends[side].block;
	struct location start = { block->object, block->start };
	struct location end = { block->object, block->end };
	json_t *json;

	if (!row->ends[side].there)
		return json_null();
	json = json_pack("{s:o, s:o, s:I, s:I, s:I, s:o}", "start", json_location(all, start),
			 "end", json_location(all, end), "count", (json_int_t)block->runs, "cycles",
			 (json_int_t)block->cycles, "cycles_rows", (json_int_t)block->cycles_rows,
			 "average_cycles", json_known(row->average[side]));
	json_object_set_new(json, diff->blocks->by_cycles ? "cycles_percent" : "percent",
			    json_percent(row->share.shares[side]));
	json_object_set_new(json, "interval", json_interval(row->share.intervals[side]));
	return json;
}

static json_t *json_average(const struct diff_block *row)
{
	const double *average = row->average;

	if (row->changed || average[SIDE_OLD] <= 0 || average[SIDE_NEW] <= 0)
		return json_pack("{s:n, s:n}", "delta_cycles", "cycles_interval");
	return json_pack("{s:f, s:[f, f]}", "delta_cycles", average[SIDE_NEW] - average[SIDE_OLD],
			 "cycles_interval",
			 average[SIDE_NEW] - average[SIDE_OLD] - row->average_off,
			 average[SIDE_NEW] - average[SIDE_OLD] + row->average_off);
}

static json_t *json_block(const struct diff *diff, size_t i)
{
	const struct diff_block *row = &diff->blocks->rows[i];
	json_t *average = json_average(row);
	json_t *json = json_pack("{s:o, s:o, s:b, s:o, s:o, s:b, s:o}", "old",
				 json_block_end(diff, row, SIDE_OLD), "new",
				 json_block_end(diff, row, SIDE_NEW), "changed", row->changed,
				 "delta_percent", json_percent(row->share.difference), "interval",
				 json_interval(row->share.interval), "significant",
				 row->significant, "reason", json_text(change_name(row->change)));

	json_object_update(json, average);
	json_decref(average);
	return json;
}

static int write_side(const struct diff *diff, FILE *f, enum side side)
{
	const struct profile_source *source = diff->sides[side].source;
	int r;

	fprintf(f, "\"%s\": ", side == SIDE_OLD ? "old" : "new");
	r = json_write(f, json_windows(source), JSON_TIME_PRECISION);
	if (r < 0)
		return r;
	fprintf(f, ",\n\"%s_totals\": ", side == SIDE_OLD ? "old" : "new");
	r = json_write(f, json_totals(source), PRECISION);
	fputs(",\n", f);
	return r;
}

/* Its path there and its counts. */
static json_t *json_stream_end(const struct diff *diff, const struct diff_stream *row,
			       enum side side)
{
	const struct diff_stream_end *end = &row->ends[side];
	json_t *json;

	if (!end->there)
		return json_null();
	if (diff->streams->tree)
		json = stream_json_lines(&diff->sides[side].places, diff->streams->tree, side,
					 end->node);
	else
		json = stream_json(&diff->sides[side].places, diff->streams->views[side],
				   end->node);
	json_object_set_new(json, "hits", json_integer((json_int_t)end->hits));
	json_object_set_new(json, "pruned", json_integer((json_int_t)end->pruned));
	json_object_set_new(json, "percent", json_percent(row->share.shares[side]));
	json_object_set_new(json, "interval", json_interval(row->share.intervals[side]));
	json_object_set_new(json, "cycles", json_known(end->cycles));
	if (diff->streams->tree)
		json_object_set_new(json, "continuations",
				    json_integer((json_int_t)end->n_continuations));
	return json;
}

static json_t *json_stream(const struct diff *diff, size_t i)
{
	const struct diff_stream *row = &diff->streams->rows[i];

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:b, s:o}", "old", json_stream_end(diff, row, SIDE_OLD),
		"new", json_stream_end(diff, row, SIDE_NEW), "delta_percent",
		json_percent(row->share.difference), "interval", json_interval(row->share.interval),
		"significant", row->significant, "reason", json_text(change_name(row->change)));
}

static int write_streams(const struct diff *diff, FILE *f)
{
	static const char *const names[N_DIFF_STREAM_SECTIONS] = {
		[DIFF_STREAM_MATCHED] = "matched",
		[DIFF_STREAM_CHANGED] = "changed",
		[DIFF_STREAM_OLD] = "old_only",
		[DIFF_STREAM_NEW] = "new_only",
	};
	const struct diff_streams *streams = diff->streams;
	size_t i = 0, n;
	int r = 0;

	fprintf(f, ",\n\"%s\": {", diff_rows_name(diff->by));
	for (int section = 0; section < N_DIFF_STREAM_SECTIONS; section++) {
		fprintf(f, "%s\"%s\": [", section > 0 ? ",\n" : "\n", names[section]);
		for (n = 0; i < streams->n_rows && (int)streams->rows[i].section == section; i++) {
			if (n++ >= diff->n_each || r < 0)
				continue;
			fputs(n > 1 ? ",\n" : "\n", f);
			r = json_write(f, json_stream(diff, i), PRECISION);
		}
		fputc(']', f);
	}
	fputc('}', f);
	return r;
}

static int write_rows(const struct diff *diff, FILE *f)
{
	int r = 0;

	if (diff->streams)
		return write_streams(diff, f);
	fprintf(f, ",\n\"%s\": [", diff_rows_name(diff->by));
	for (size_t i = 0; r >= 0 && i < diff->n_shown; i++) {
		fputs(i > 0 ? ",\n" : "\n", f);
		r = json_write(f, diff->blocks ? json_block(diff, i) : json_share(diff, i),
			       PRECISION);
	}
	fputc(']', f);
	return r;
}

int diff_write_json(const struct diff *const *diffs, size_t n, FILE *f)
{
	_cleanup_free_ char *words = diff_format_words(diffs[0]);
	int r = words ? 0 : -ENOMEM;

	fputs("{", f);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = write_side(diffs[0], f, side);
	if (r < 0)
		return r;
	fputs("\"summary\": ", f);
	r = json_write(f, json_text(words), JSON_ENCODE_ANY);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = write_rows(diffs[i], f);
	fputs(",\n\"rows_omitted\": {", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\"%s\": %zu", i > 0 ? ", " : "", diff_rows_name(diffs[i]->by),
			diffs[i]->n_compared - diffs[i]->n_shown);
	fputs("}}\n", f);
	return r;
}
