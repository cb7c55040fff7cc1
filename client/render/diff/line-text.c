/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/diff/line-text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/stream-lines.h"
#include "client/render/stream-text.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define INDENT "  "
#define GAP    "    "

#define N_BRIEF 3 /* lines of a stream, if brief */

static const char *const titles[N_DIFF_STREAM_SECTIONS] = {
	[DIFF_STREAM_MATCHED] = "Same code",
	[DIFF_STREAM_CHANGED] = "Changed",
	[DIFF_STREAM_OLD] = "Old only",
	[DIFF_STREAM_NEW] = "New only",
};

static void write_cycles(FILE *f, const struct diff_stream_end *ends)
{
	const struct diff_stream_end *alone = &ends[ends[SIDE_NEW].there ? SIDE_NEW : SIDE_OLD];

	if (ends[SIDE_OLD].there && ends[SIDE_NEW].there) {
		if (ends[SIDE_OLD].cycles > 0 && ends[SIDE_NEW].cycles > 0)
			fprintf(f, "   (%.0f -> %.0f cycles)", ends[SIDE_OLD].cycles,
				ends[SIDE_NEW].cycles);
	} else if (alone->cycles > 0) {
		fprintf(f, "   (%.0f cycles)", alone->cycles);
	}
}

static void write_head(FILE *f, const struct output *output, const struct diff_stream *row)
{
	const struct significance *share = &row->share;

	fprintf(f, "\n%s[ %s ]%s  ", COLOR_BOLD(output->colors), titles[row->section],
		COLOR_RESET(output->colors));
	if (row->section == DIFF_STREAM_OLD || row->section == DIFF_STREAM_NEW)
		fprintf(f, "%.2f %%", 100 * share->shares[diff_stream_side(row)]);
	else
		fprintf(f, "%.2f %% -> %.2f %%  ", 100 * share->shares[SIDE_OLD],
			100 * share->shares[SIDE_NEW]);
	if (row->section != DIFF_STREAM_MATCHED && row->section != DIFF_STREAM_CHANGED)
		fputs(row->significant ? "" : "  within noise", f);
	else if (row->significant)
		fprintf(f, "%+.2f", 100 * share->difference);
	else
		fputs("within noise", f);
	write_cycles(f, row->ends);
	if (row->change)
		fprintf(f, "   changed: %s", change_name(row->change));
	fputc('\n', f);
}

/* One side or both, which have the same number of lines. */
static int write_lines(const struct stream_lines *lines, enum side first, enum side last,
		       size_t n_lines, struct output *output)
{
	size_t n = (size_t)last - first + 1, room, width[N_SIDES];
	size_t around = strlen(INDENT) + (n - 1) * strlen(GAP);
	int r = 0;

	room = output->width > around ? (output->width - around) / n : SIZE_MAX;
	for (int side = first; side <= (int)last; side++)
		width[side] = MIN(room, stream_lines_width(&lines[side]));
	for (size_t i = 0; r >= 0 && i < n_lines; i++) {
		fputs(INDENT, output->f);
		for (int side = first; r >= 0 && side <= (int)last; side++) {
			bool is_last = side == (int)last;

			r = stream_lines_write(&lines[side], i, output->f, width[side], !is_last);
			fputs(is_last ? "\n" : GAP, output->f);
		}
	}
	return r;
}

/* True if both sides have room as they are. */
static bool are_beside(const struct stream_lines *lines, size_t width)
{
	return width == 0 || strlen(INDENT) + stream_lines_width(&lines[SIDE_OLD]) + strlen(GAP) +
					     stream_lines_width(&lines[SIDE_NEW]) <=
				     width;
}

/* The newest lines. To leave out one line only is not worth the line that says so. */
static size_t count_lines(const struct diff *diff, size_t n)
{
	return diff->brief && n > N_BRIEF + 1 ? N_BRIEF : n;
}

static int write_stream(const struct diff *diff, struct output *output,
			const struct diff_stream *row)
{
	struct stream_lines lines[N_SIDES] = {};
	enum side first = row->ends[SIDE_OLD].there ? SIDE_OLD : SIDE_NEW;
	enum side last = diff_stream_side(row);
	size_t n_lines;
	int r = 0;

	for (int side = first; r >= 0 && side <= (int)last; side++)
		r = stream_lines_init(&lines[side], &diff->sides[side].places, diff->streams->tree,
				      (enum side)side, row->ends[side].node);
	if (r >= 0) {
		n_lines = count_lines(diff, lines[first].n);
		if (row->section == DIFF_STREAM_MATCHED && !are_beside(lines, output->width) &&
		    stream_lines_equal(&lines[SIDE_OLD], &lines[SIDE_NEW]))
			first = SIDE_NEW;
		write_head(output->f, output, row);
		r = write_lines(lines, first, last, n_lines, output);
		if (r >= 0 && n_lines < lines[first].n)
			fprintf(output->f, INDENT "... %zu more line%s\n", lines[first].n - n_lines,
				text_plural(lines[first].n - n_lines));
	}
	for (int side = 0; side < N_SIDES; side++)
		stream_lines_done(&lines[side]);
	return r;
}

int diff_line_stream_write(const struct diff *diff, struct output *output)
{
	static const enum diff_stream_section order[N_DIFF_STREAM_SECTIONS] = {
		DIFF_STREAM_CHANGED, DIFF_STREAM_MATCHED, DIFF_STREAM_OLD, DIFF_STREAM_NEW
	};
	const struct diff_streams *streams = diff->streams;
	int r = 0;

	for (size_t k = 0; k < N_DIFF_STREAM_SECTIONS; k++) {
		size_t n = 0;

		for (size_t i = 0; r >= 0 && i < streams->n_rows; i++) {
			if (streams->rows[i].section != order[k])
				continue;
			if (n++ < diff->n_each)
				r = write_stream(diff, output, &streams->rows[i]);
		}
		if (n > diff->n_each)
			fprintf(output->f, "... %zu more, --all -n 0 shows them\n",
				n - diff->n_each);
	}
	return r;
}

/* Significant ones first, then by the difference; the others as they are. */
static int compare_differences(const void *a, const void *b)
{
	const struct diff_stream *x = *(const struct diff_stream *const *)a;
	const struct diff_stream *y = *(const struct diff_stream *const *)b;
	double of_x = fabs(x->share.difference), of_y = fabs(y->share.difference);

	if (x->significant != y->significant)
		return x->significant ? -1 : 1;
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return COMPARE(x, y);
}

int diff_line_stream_write_brief(const struct diff *diff, struct output *output)
{
	const struct diff_streams *streams = diff->streams;
	_cleanup_free_ const struct diff_stream **rows = calloc(streams->n_rows + 1, sizeof(*rows));
	int r = rows ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < streams->n_rows; i++)
		rows[i] = &streams->rows[i];
	if (r >= 0)
		qsort(rows, streams->n_rows, sizeof(*rows), compare_differences);
	for (size_t i = 0; r >= 0 && i < diff->n_shown; i++)
		r = write_stream(diff, output, rows[i]);
	return r;
}

char *diff_line_stream_format(const struct diff *diff, const struct diff_stream *row)
{
	enum side side = diff_stream_side(row);
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(diff->streams->tree, row->ends[side].node, path);
	const struct stream_tree_node *to = stream_tree_node(diff->streams->tree, path[0]);
	const struct stream_tree_node *from = stream_tree_node(diff->streams->tree, path[n > 1]);
	const struct view_stream_step step = { .from = from->ends[side].at,
					       .to = to->ends[side].at };

	return stream_text_step(&diff->sides[side].places, &step, SIZE_MAX);
}
