/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/diff/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/diff/line-text.h"
#include "client/render/diff/stream-text.h"
#include "client/render/diff/words.h"
#include "client/render/share-name.h"
#include "client/render/summary.h"
#include "client/render/table.h"
#include "client/term/text.h"
#include "client/term/wrap.h"
#include "client/top/share.h"
#include "common/util/cleanup.h"

/* What is left out on a narrow terminal. */
enum {
	LEAVE_NOTHING,
	LEAVE_PER_SECOND,
	LEAVE_PER_CALL,  /* of blocks: the error bound of the difference of averages */
	LEAVE_TOTAL_OFF, /* of blocks: that difference */
	LEAVE_TOTAL, /* and the error bound of SELF: on narrow terminals alone; on others names are
			shortened */
};

#define NARROW 60 /* columns */

static int leave_at_most(const struct output *output)
{
	return output->width > 0 && output->width < NARROW ? LEAVE_TOTAL : LEAVE_TOTAL_OFF;
}

#define N_SHARE_COLUMNS 4 /* OLD, NEW, CHANGE, +/- */

/* The columns with data. */
struct columns {
	bool self_off, total, total_off, per_second, per_call, changed;
};

static struct columns choose_columns(const struct diff *diff, int leave)
{
	struct columns columns = {
		.self_off = leave < LEAVE_TOTAL,
		.per_second = leave < LEAVE_PER_SECOND && diff->sides[SIDE_OLD].per_second >= 0 &&
			      diff->sides[SIDE_NEW].per_second >= 0,
	};

	for (size_t i = 0; i < diff->n_shown; i++) {
		const struct diff_share_end *ends = diff->shares->rows[i].ends;

		if (leave < LEAVE_PER_CALL && ends[SIDE_OLD].per_call > 0 &&
		    ends[SIDE_NEW].per_call > 0)
			columns.per_call = true;
		if (share_has_total(diff->by) && leave < LEAVE_TOTAL &&
		    (ends[SIDE_OLD].total != ends[SIDE_OLD].self ||
		     ends[SIDE_NEW].total != ends[SIDE_NEW].self))
			columns.total = true;
		if (diff->shares->rows[i].change != CHANGE_NONE)
			columns.changed = true;
	}
	columns.total_off = columns.total && leave < LEAVE_TOTAL_OFF;
	return columns;
}

/* The first @n of them. */
static int add_group(struct table *table, const char *name, size_t n)
{
	static const char *const columns[N_SHARE_COLUMNS] = { "OLD", "NEW", "CHANGE", "+/-" };
	int r = 0;

	table_begin_group(table, name);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = table_add_column(table, columns[i], TABLE_RIGHT);
	return r;
}

static int add_columns(const struct diff *diff, struct table *table, const struct columns *columns)
{
	int r = add_group(table, columns->total ? "SELF" : NULL, columns->self_off ? 4 : 3);

	if (r >= 0 && columns->total)
		r = add_group(table, "TOTAL", columns->total_off ? 4 : 3);
	table_begin_group(table, NULL);
	if (r >= 0 && columns->per_second)
		r = table_add_column(table, "PER SECOND", TABLE_RIGHT);
	if (r >= 0 && columns->per_call)
		r = table_add_column(table, "PER CALL", TABLE_RIGHT);
	if (r >= 0 && columns->changed)
		r = table_add_column(table, "CHANGED", TABLE_SPARE);
	return r < 0 ? r : share_name_add_columns(table, diff->by);
}

static int set_share(struct table *table, size_t column, bool there, double share)
{
	return there ? table_printf(table, column, "%.2f%%", 100 * share) :
		       table_set(table, column, "-");
}

/* In points. */
static int set_difference(struct table *table, size_t column, const struct significance *noise,
			  bool significant)
{
	int r = table_printf(table, column, "%s%+.2f", significant ? "*" : "",
			     100 * noise->difference);

	if (r >= 0 && significant)
		r = table_set_color(table, column, noise->difference > 0 ? "red" : "green");
	return r;
}

/* Its error bound. */
static int set_off(struct table *table, size_t column, const struct significance *noise)
{
	return table_printf(table, column, "%.2f", 100 * significance_margin(noise));
}

static int set_noise(struct table *table, size_t column, const struct diff_share *row,
		     const struct significance *noise, bool significant)
{
	int r = set_share(table, column, row->ends[SIDE_OLD].there, noise->shares[SIDE_OLD]);

	if (r >= 0)
		r = set_share(table, column + 1, row->ends[SIDE_NEW].there,
			      noise->shares[SIDE_NEW]);
	return r < 0 ? r : set_difference(table, column + 2, noise, significant);
}

/* CPU time or events per second: "+12.3 ms", "-4.56 M". */
static int set_per_second(struct table *table, size_t column, const struct diff *diff,
			  const struct diff_share *row)
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	double change = row->self.shares[SIDE_NEW] * diff->sides[SIDE_NEW].per_second -
			row->self.shares[SIDE_OLD] * diff->sides[SIDE_OLD].per_second;
	size_t i = 0;

	if (diff->is_clock)
		return table_printf(table, column, "%+.1f ms", 1000 * change);
	for (; fabs(change) >= 1000 && i + 1 < ARRAY_SIZE(units); i++)
		change /= 1000;
	return table_printf(table, column, "%+.3g%s", change, units[i]);
}

static int set_per_call(struct table *table, size_t column, const struct diff_share *row)
{
	double before = row->ends[SIDE_OLD].per_call, after = row->ends[SIDE_NEW].per_call;

	if (before <= 0 || after <= 0)
		return table_set(table, column, "-");
	return table_printf(table, column, "%.1f>%.1f", before, after);
}

static int fill_row(const struct diff *diff, struct table *table, const struct columns *columns,
		    const struct diff_share *row)
{
	enum side side = diff_share_side(row);
	size_t column = 3;
	int r = set_noise(table, 0, row, &row->self, row->significant);

	if (r >= 0 && columns->self_off)
		r = set_off(table, column++, &row->self);
	if (r >= 0 && columns->total) {
		r = set_noise(table, column, row, &row->total, row->total_significant);
		column += 3;
	}
	if (r >= 0 && columns->total_off)
		r = set_off(table, column++, &row->total);
	if (r >= 0 && columns->per_second)
		r = set_per_second(table, column++, diff, row);
	if (r >= 0 && columns->per_call)
		r = set_per_call(table, column++, row);
	if (r >= 0 && columns->changed)
		r = table_set(table, column++, change_name(row->change) ?: "");
	if (r >= 0 && !row->significant && !row->total_significant)
		r = table_dim_row(table);
	return r < 0 ? r :
		       share_name_set_paired(table, column, diff->sides[side].source->shown,
					     diff->by, &row->ends[side].key);
}

static int write_shares(const struct diff *diff, struct table *table, int leave)
{
	struct columns columns = choose_columns(diff, leave);
	int r = add_columns(diff, table, &columns);

	for (size_t i = 0; r >= 0 && i < diff->n_shown; i++) {
		r = table_add_row(table);
		if (r >= 0)
			r = fill_row(diff, table, &columns, &diff->shares->rows[i]);
	}
	return r;
}

/* Whether the averages of both sides are of the same code. */
static bool are_averages_alike(const struct diff_block *row)
{
	return !row->changed && row->average[SIDE_OLD] > 0 && row->average[SIDE_NEW] > 0;
}

static bool has_average_change(const struct diff *diff)
{
	for (size_t i = 0; i < diff->n_shown; i++)
		if (are_averages_alike(&diff->blocks->rows[i]))
			return true;
	return false;
}

/* Of the numbers of a block, those after its share. */
static size_t count_averages(const struct diff *diff, int leave)
{
	if (!diff->blocks->by_cycles)
		return 0;
	if (!has_average_change(diff))
		return 2;
	return leave < LEAVE_PER_CALL ? 4 : leave < LEAVE_TOTAL_OFF ? 3 : 2;
}

static int add_block_columns(const struct diff *diff, struct table *table, int leave)
{
	int r = add_group(table, diff->blocks->by_cycles ? "SHARE" : NULL, N_SHARE_COLUMNS);

	if (r >= 0)
		r = add_group(table, "AVERAGE", count_averages(diff, leave));
	table_begin_group(table, NULL);
	if (r >= 0 && !table_is_narrow(table))
		r = table_add_column(table, "OBJECT", TABLE_ELIDE_NAME | TABLE_YIELD);
	return r < 0 ? r : table_add_column(table, "BLOCK", TABLE_ELIDE_NAME);
}

static int set_average(struct table *table, size_t column, double average)
{
	return average > 0 ? table_printf(table, column, "%.1f", average) :
			     table_set(table, column, "-");
}

static int set_averages(struct table *table, size_t column, const struct diff_block *row, int leave)
{
	const double *average = row->average;
	int r = set_average(table, column, average[SIDE_OLD]);

	if (r >= 0)
		r = set_average(table, column + 1, average[SIDE_NEW]);
	if (r < 0 || !are_averages_alike(row))
		return r;
	if (leave < LEAVE_TOTAL_OFF)
		r = table_printf(table, column + 2, "%+.1f", average[SIDE_NEW] - average[SIDE_OLD]);
	if (r >= 0 && leave < LEAVE_PER_CALL)
		r = table_printf(table, column + 3, "%.1f", row->average_off);
	return r;
}

static int set_block_share(struct table *table, const struct diff_block *row)
{
	const struct significance *share = &row->share;
	int r = set_share(table, 0, row->ends[SIDE_OLD].there, share->shares[SIDE_OLD]);

	if (r >= 0)
		r = set_share(table, 1, row->ends[SIDE_NEW].there, share->shares[SIDE_NEW]);
	if (r < 0)
		return r;
	if (row->changed)
		return table_set(table, 2, row->ends[SIDE_OLD].there ? "changed" : "new");
	r = set_difference(table, 2, share, row->significant);
	return r < 0 ? r : set_off(table, 3, share);
}

static int fill_block(const struct diff *diff, struct table *table, const struct diff_block *row,
		      int leave)
{
	enum side side = diff_block_side(row);
	const struct profile_block *block = &row->ends[side].block;
	const struct profile *profile = diff->sides[side].source->shown;
	const struct profile_object *object =
		block->object == PROFILE_NONE ? NULL : &profile->objects[block->object];
	_cleanup_free_ char *text = place_format_block(&diff->sides[side].places, block);
	size_t column = N_SHARE_COLUMNS + count_averages(diff, leave);
	int r = text ? set_block_share(table, row) : -ENOMEM;

	if (r >= 0 && diff->blocks->by_cycles)
		r = set_averages(table, N_SHARE_COLUMNS, row, leave);
	if (r >= 0 && !table_is_narrow(table))
		r = table_set(table, column++, place_object_name(object));
	if (r >= 0 && !row->significant)
		r = table_dim_row(table);
	return r < 0 ? r : table_set(table, column, text);
}

static int write_blocks(const struct diff *diff, struct table *table, int leave)
{
	int r = add_block_columns(diff, table, leave);

	for (size_t i = 0; r >= 0 && i < diff->n_shown; i++) {
		r = table_add_row(table);
		if (r >= 0)
			r = fill_block(diff, table, &diff->blocks->rows[i], leave);
	}
	return r;
}

/* 1; 0 if the table is too wide and more columns can be left out; or -errno. */
static int try_rows(const struct diff *diff, struct output *output, int leave)
{
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, output->f, output->width, output->colors);
	if (r >= 0)
		r = diff->blocks ? write_blocks(diff, table, leave) :
				   write_shares(diff, table, leave);
	if (r < 0)
		return r;
	if (leave < leave_at_most(output) && !table_fits(table))
		return 0;
	r = table_print(table);
	return r < 0 ? r : 1;
}

static int write_rows(const struct diff *diff, struct output *output)
{
	int r = 0;

	for (int leave = LEAVE_NOTHING; r == 0 && leave <= leave_at_most(output); leave++)
		r = try_rows(diff, output, leave);
	return MIN(r, 0);
}

/* Names in it may have any bytes. */
static int write_line(struct output *output, const char *text, const char *end)
{
	_cleanup_free_ char *line = strndup(text, (size_t)(end - text));
	_cleanup_free_ char *clean = NULL;
	size_t n;
	FILE *f = open_memstream(&clean, &n);

	if (!f)
		return -ENOMEM;
	text_write(f, line ?: "");
	fputc('\n', f);
	if (fclose(f) != 0)
		return -ENOMEM;
	wrap_write(output->f, clean, output->width, 2);
	return 0;
}

static int write_streams(const struct diff *diff, struct output *output)
{
	if (!diff->streams->tree)
		return diff_stream_write(diff, output);
	return diff->brief ? diff_line_stream_write_brief(diff, output) :
			     diff_line_stream_write(diff, output);
}

static size_t count_left_out(const struct diff *diff)
{
	if (diff->brief)
		return 0; /* the end of the page says how to see more */
	/* each section of streams says how many it leaves out */
	return diff->n_compared - (diff->streams ? diff->n_rows : diff->n_shown);
}

static void write_missing(const struct diff *diff, FILE *f)
{
	summary_write_missing(f, diff->sides[SIDE_OLD].source, "old: ");
	summary_write_missing(f, diff->sides[SIDE_NEW].source, "new: ");
}

/* What is compared is said once, in the first line. */
static int write_view(const struct diff *diff, bool is_first, struct output *output)
{
	_cleanup_free_ char *words = diff_format_words(diff);
	const char *line = words, *end;
	size_t n_left = count_left_out(diff);
	int r = 0;

	if (!words)
		return -ENOMEM;
	if (!is_first) {
		fputc('\n', output->f);
		line = strchr(words, '\n') + 1;
	}
	for (; r >= 0 && (end = strchr(line, '\n')); line = end + 1) {
		/* the name of a part of the page */
		bool is_heading = diff->brief && end[1] == '\0';

		fputs(is_heading ? COLOR_BOLD(output->colors) : "", output->f);
		r = write_line(output, line, end);
		fputs(is_heading ? COLOR_RESET(output->colors) : "", output->f);
		if (is_first && line == words)
			write_missing(diff, output->f);
	}
	if (r >= 0 && diff->n_shown > 0)
		r = diff->streams ? write_streams(diff, output) : write_rows(diff, output);
	if (r >= 0 && n_left > 0 && diff->streams)
		fprintf(output->f, "\n%s... %zu more of less than %g %%, --all shows them%s\n",
			COLOR_DIM(output->colors), n_left, diff->limit,
			COLOR_RESET(output->colors));
	else if (r >= 0 && n_left > 0)
		fprintf(output->f, "%s... %zu more, --all -n 0 shows them%s\n",
			COLOR_DIM(output->colors), n_left, COLOR_RESET(output->colors));
	return r;
}

/* How to see more than the page has. */
static void write_hint(const struct diff *const *diffs, size_t n, struct output *output)
{
	fprintf(output->f, "\n%s... more of each with -n N", COLOR_DIM(output->colors));
	for (size_t i = 0; i < n; i++)
		fprintf(output->f, "%s--by %s", i + 1 < n ? ", " : " or ", view_name(diffs[i]->by));
	fprintf(output->f, "%s\n", COLOR_RESET(output->colors));
}

/* What ran beside it moves the share of a function, too. */
static bool is_within_noise(const struct diff *diff)
{
	const struct diff_share *first = diff->shares ? diff->shares->rows : NULL;

	return first && diff->shares->n_rows > 0 && !first->significant &&
	       !first->total_significant && diff_is_worth_saying(&first->self) &&
	       !view_is_owner(diff->by) && !diff->sides[SIDE_NEW].source->by_process;
}

static int write_advice(struct output *output)
{
	static const char advice[] = "--comm NAME or --unit NAME compares shares within a program, "
				     "which other load does not move";

	return write_line(output, advice, advice + strlen(advice));
}

int diff_write_table(const struct diff *const *diffs, size_t n, struct output *output)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = write_view(diffs[i], i == 0, output);
	if (r >= 0 && n > 0 && diffs[0]->brief)
		write_hint(diffs, n, output);
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (is_within_noise(diffs[i]))
			return write_advice(output);
	return r;
}
