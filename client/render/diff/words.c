/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/diff/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/diff/line-text.h"
#include "client/render/diff/stream-text.h"
#include "client/render/share-name.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

static const char *const rows_names[N_VIEWS] = {
	[VIEW_FUNCTION] = "functions",   [VIEW_LINE] = "lines",   [VIEW_OBJECT] = "objects",
	[VIEW_PROCESS] = "processes",    [VIEW_UNIT] = "units",   [VIEW_COMM] = "names",
	[VIEW_CONTAINER] = "containers", [VIEW_BLOCK] = "blocks", [VIEW_STREAM] = "streams",
	[VIEW_USER] = "users",           [VIEW_HOST] = "hosts",
};

#define FEW_SAMPLES  100   /* of a side: a change of ten points may be noise */
#define WORTH_SAYING 0.005 /* of the whole: a difference within noise that is named */

bool diff_is_worth_saying(const struct significance *noise)
{
	return fabs(noise->difference) >= WORTH_SAYING;
}

const char *diff_rows_name(enum view_by by)
{
	return rows_names[by];
}

static void write_side(FILE *f, const struct diff *diff, enum side which)
{
	const struct diff_side *side = &diff->sides[which];
	uint64_t n = side->source->all->counters.samples;

	fprintf(f, "%s (%" PRIu64 " sample%s", side->source->name, n, text_plural(n));
	if (!diff->same_event)
		fprintf(f, " of %s", side->source->all->info.event);
	if (side->seconds >= 1)
		fprintf(f, " in %.1f s", side->seconds);
	else if (side->seconds > 0)
		fprintf(f, " in %.1f ms", 1e3 * side->seconds);
	fputc(')', f);
}

static void write_most(FILE *f, const char *name, const struct significance *noise)
{
	fprintf(f, "%s: from %.2f %% to %.2f %%, %+.2f points (95 %%: %+.2f to %+.2f)\n", name,
		100 * noise->shares[SIDE_OLD], 100 * noise->shares[SIDE_NEW],
		100 * noise->difference, 100 * noise->interval.low, 100 * noise->interval.high);
}

/* "1 process", "2 processes" */
static void write_number(FILE *f, enum view_by by, size_t n)
{
	const char *many = rows_names[by];
	size_t n_end = by == VIEW_PROCESS ? strlen("es") : strlen("s");
	size_t length = strlen(many) - (n == 1 ? n_end : 0);

	fprintf(f, "%zu %.*s", n, (int)length, many);
}

static void write_nothing(FILE *f, enum view_by by, size_t n_compared)
{
	fputs("no significant change in ", f);
	write_number(f, by, n_compared);
}

static void write_significant(FILE *f, enum view_by by, size_t n_significant, size_t n_compared)
{
	fprintf(f, "significant change in %zu of ", n_significant);
	write_number(f, by, n_compared);
}

/* The end of the line: what changed most, unless the rows right below are to say that. */
static void write_largest(FILE *f, const struct diff *diff, const char *name,
			  const struct significance *noise)
{
	if (diff->brief) {
		fputc('\n', f);
		return;
	}
	fprintf(f, "; the largest: %s", diff->streams ? "the path to " : "");
	write_most(f, name, noise);
}

/* The same of rows that are all within noise; @noise has the largest of them. */
static void write_within_noise(FILE *f, const struct diff *diff, const char *name,
			       const struct significance *noise)
{
	write_nothing(f, diff->by, diff->n_compared);
	if (diff->brief || !diff_is_worth_saying(noise)) {
		fputc('\n', f);
		return;
	}
	fputs(noise->interval.low > 0 || noise->interval.high < 0 ?
		      "; the largest, which may be chance among that many: " :
		      "; the largest, within noise: ",
	      f);
	write_most(f, name, noise);
}

/* 0 or -ENOMEM. */
static int write_shares(FILE *f, const struct diff *diff)
{
	const struct diff_shares *shares = diff->shares;
	const struct diff_share *first = shares->rows;
	_cleanup_free_ char *name = NULL;
	enum side side;

	if (shares->n_rows == 0) {
		write_nothing(f, diff->by, shares->n_compared);
		fputc('\n', f);
		return 0;
	}
	side = diff_share_side(first);
	name = share_name_format(diff->sides[side].source->shown, diff->by, &first->ends[side].key);
	if (!name)
		return -ENOMEM;
	if (!first->significant && !first->total_significant) {
		write_within_noise(f, diff, name, &first->self);
		return 0;
	}
	if (first->significant)
		write_significant(f, diff->by, shares->n_significant, shares->n_compared);
	else
		fprintf(f, "significant change only in what %s call", rows_names[diff->by]);
	write_largest(f, diff, name, first->significant ? &first->self : &first->total);
	return 0;
}

static int write_blocks(FILE *f, const struct diff *diff)
{
	const struct diff_blocks *blocks = diff->blocks;
	const struct diff_block *first = blocks->rows;
	_cleanup_free_ char *name = NULL;
	enum side side;

	if (blocks->n_rows == 0) {
		write_nothing(f, diff->by, blocks->n_compared);
		fputc('\n', f);
		return 0;
	}
	side = diff_block_side(first);
	name = place_format_block(&diff->sides[side].places, &first->ends[side].block);
	if (!name)
		return -ENOMEM;
	if (blocks->n_significant == 0) {
		write_within_noise(f, diff, name, &first->share);
		return 0;
	}
	write_significant(f, diff->by, blocks->n_significant, blocks->n_compared);
	write_largest(f, diff, name, &first->share);
	return 0;
}

static int write_streams(FILE *f, const struct diff *diff)
{
	const struct diff_stream *most = diff_streams_most(diff->streams);
	_cleanup_free_ char *name = NULL;

	if (!most) {
		write_nothing(f, diff->by, diff->streams->n_compared);
		fputc('\n', f);
		return 0;
	}
	name = diff->streams->tree ? diff_line_stream_format(diff, most) :
				     diff_stream_format(diff, most);
	if (!name)
		return -ENOMEM;
	write_significant(f, diff->by, diff->streams->n_significant, diff->streams->n_compared);
	write_largest(f, diff, name, &most->share);
	return 0;
}

/* The whole that the shares of that side refer to. */
static uint64_t count_all(const struct diff *diff, enum side side)
{
	const struct profile_counters *counters = &diff->sides[side].source->all->counters;

	if (diff->streams)
		return counters->streams;
	return diff->blocks ? counters->runs_counted : counters->samples;
}

/* Says so, too. */
static bool is_empty(FILE *f, const struct diff *diff)
{
	const char *what = diff->streams ? "branch paths" : diff->blocks ? "runs" : "samples";
	bool has_old = count_all(diff, SIDE_OLD) > 0, has_new = count_all(diff, SIDE_NEW) > 0;

	if (has_old && has_new)
		return false;
	if (!has_old && !has_new)
		fprintf(f, "nothing to compare: neither side has %s\n", what);
	else
		fprintf(f, "nothing to compare: %s has no %s\n",
			diff->sides[has_old ? SIDE_NEW : SIDE_OLD].source->name, what);
	return true;
}

static int write_rows(FILE *f, const struct diff *diff)
{
	if (is_empty(f, diff))
		return 0;
	if (diff->streams)
		return write_streams(f, diff);
	return diff->blocks ? write_blocks(f, diff) : write_shares(f, diff);
}

/* A single short window may have so few that nothing can be said of it. */
static void write_few(FILE *f, const struct diff *diff)
{
	uint64_t old = count_all(diff, SIDE_OLD), new = count_all(diff, SIDE_NEW);

	if (!diff->shares || diff->sides[SIDE_OLD].source->is_recording ||
	    diff->sides[SIDE_NEW].source->is_recording || old == 0 || new == 0 ||
	    MIN(old, new) >= FEW_SAMPLES)
		return;
	fprintf(f,
		"few samples, %" PRIu64 " and %" PRIu64
		": only large changes can be told; spans such as 10:00..10:10 have more\n",
		old, new);
}

static int write_words(FILE *f, const void *what)
{
	const struct diff *diff = what;
	int r;

	write_side(f, diff, SIDE_OLD);
	fputs(", then ", f);
	write_side(f, diff, SIDE_NEW);
	fputs(diff->same_event ? "\n" : ": different events\n", f);
	r = write_rows(f, diff);
	if (r >= 0)
		write_few(f, diff);
	return r;
}

char *diff_format_words(const struct diff *diff)
{
	return text_of(write_words, diff);
}
