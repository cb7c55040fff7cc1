/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/diff/stream-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/stream-text.h"
#include "client/term/color.h"
#include "client/term/elide.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"

/* The lines of one column: a heading and a path. */
struct column {
	char *lines[VIEW_STREAM_MAX_ROWS + 3];
	size_t n;
};

static void column_done(struct column *column)
{
	for (size_t i = 0; i < column->n; i++)
		free(column->lines[i]);
}

static const char *const titles[N_DIFF_STREAM_SECTIONS] = {
	[DIFF_STREAM_MATCHED] = "Streams of both sides",
	[DIFF_STREAM_CHANGED] = "Streams of the old side through changed code (*)",
	[DIFF_STREAM_OLD] = "Streams of the old side only",
	[DIFF_STREAM_NEW] = "Streams of the new side only",
};

static int add_line(struct column *column, char *line)
{
	if (!line)
		return -ENOMEM;
	column->lines[column->n++] = line;
	return 0;
}

static int add_head(struct column *column, const struct diff_stream *row, enum side side)
{
	double percent = 100 * row->share.shares[side];
	char *line;
	int r;

	if (row->ends[side].cycles > 0)
		r = asprintf(&line, "cycles: %.0f, hits: %.2f%%", row->ends[side].cycles, percent);
	else
		r = asprintf(&line, "hits: %.2f%%", percent);
	return add_line(column, r < 0 ? NULL : line);
}

/* Sets the branches that were changed, newest first, with every turn of loops. */
static void mark_changed(const struct diff *diff, enum side side, uint32_t node, bool *ret)
{
	const struct view_stream_node *nodes = diff->streams->views[side]->nodes;
	size_t n = 0;

	for (uint32_t i = node; i != PROFILE_NONE; i = nodes[i].parent)
		n++;
	for (uint32_t i = node; i != PROFILE_NONE; i = nodes[i].parent)
		if (--n < VIEW_STREAM_MAX_ROWS)
			ret[n] = diff->streams->changed[side][i];
}

static int add_step(struct column *column, const struct diff *diff, enum side side,
		    const struct view_stream_step *steps, size_t i, bool changed)
{
	_cleanup_free_ char *text =
		stream_text_step(&diff->sides[side].places, &steps[i], SIZE_MAX);
	char turns[STREAM_TEXT_TURNS], *line;
	const char *loop = stream_text_loop(steps, i, turns);

	if (!text)
		return -ENOMEM;
	if (asprintf(&line, "  %s%s%s%s", changed ? "* " : "  ", loop, text, turns) < 0)
		line = NULL;
	return add_line(column, line);
}

static int add_pruned(struct column *column, const struct diff_stream_end *end)
{
	char *line;

	if (end->pruned == 0)
		return 0;
	if (asprintf(&line, "    ... %" PRIu64 " of %" PRIu64 " hits by longer, pruned paths",
		     end->pruned, end->hits) < 0)
		line = NULL;
	return add_line(column, line);
}

static int fill(struct column *column, const struct diff *diff, const struct diff_stream *row,
		enum side side)
{
	const struct diff_stream_end *end = &row->ends[side];
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];
	bool changed[VIEW_STREAM_MAX_ROWS];
	size_t n;
	int r = add_head(column, row, side);

	mark_changed(diff, side, end->node, changed);
	n = view_stream_path(diff->streams->views[side], end->node, steps);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_step(column, diff, side, steps, i, changed[steps[i].row]);
	return r < 0 ? r : add_pruned(column, end);
}

static size_t width_of(const struct column *column)
{
	size_t width = 0;

	for (size_t i = 0; i < column->n; i++)
		width = MAX(width, strlen(column->lines[i]));
	return width;
}

static int write_cell(FILE *f, const char *line, size_t width, bool is_last)
{
	_cleanup_free_ char *fitting = elide_name(line, width);

	if (!fitting)
		return -ENOMEM;
	if (is_last)
		text_write(f, fitting);
	else
		text_write_padded(f, fitting, (int)width + 2);
	return 0;
}

static int write_pair(struct output *output, const struct column *columns)
{
	size_t half = output->width > 2 ? (output->width - 2) / 2 : SIZE_MAX;
	size_t width = MIN(width_of(&columns[SIDE_OLD]), half);
	int r = 0;

	for (size_t i = 0; r >= 0 && (i < columns[SIDE_OLD].n || i < columns[SIDE_NEW].n); i++) {
		bool is_last = i >= columns[SIDE_NEW].n;

		r = write_cell(output->f, i < columns[SIDE_OLD].n ? columns[SIDE_OLD].lines[i] : "",
			       width, is_last);
		if (r >= 0 && !is_last)
			r = write_cell(output->f, columns[SIDE_NEW].lines[i], half, true);
		fputc('\n', output->f);
	}
	return r;
}

static int write_alone(struct output *output, const struct column *column)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < column->n; i++) {
		r = write_cell(output->f, column->lines[i],
			       output->width > 0 ? output->width : SIZE_MAX, true);
		fputc('\n', output->f);
	}
	return r;
}

static void write_difference(FILE *f, const struct diff_stream *row)
{
	if (row->section != DIFF_STREAM_MATCHED && !row->change)
		return;
	if (row->section == DIFF_STREAM_MATCHED)
		fprintf(f, "%+.2f points%s\n", 100 * row->share.difference,
			row->significant ? "" : ", within noise");
	else
		fprintf(f, "changed: %s\n", change_name(row->change));
}

static int write_stream(const struct diff *diff, struct output *output,
			const struct diff_stream *row)
{
	struct column columns[N_SIDES] = {};
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		if (row->ends[side].there)
			r = fill(&columns[side], diff, row, (enum side)side);
	if (r >= 0) {
		fprintf(output->f, "\n%s", row->significant ? "" : COLOR_DIM(output->colors));
		write_difference(output->f, row);
		r = row->section == DIFF_STREAM_MATCHED ?
			    write_pair(output, columns) :
			    write_alone(output, &columns[diff_stream_side(row)]);
		fputs(row->significant ? "" : COLOR_RESET(output->colors), output->f);
	}
	for (int side = 0; side < N_SIDES; side++)
		column_done(&columns[side]);
	return r;
}

int diff_stream_write(const struct diff *diff, struct output *output)
{
	const struct diff_streams *streams = diff->streams;
	size_t i = 0, n;
	int r = 0;

	for (int section = 0; section < N_DIFF_STREAM_SECTIONS; section++) {
		fprintf(output->f, "\n%s[ %s ]%s\n", COLOR_BOLD(output->colors), titles[section],
			COLOR_RESET(output->colors));
		for (n = 0; i < streams->n_rows && (int)streams->rows[i].section == section; i++)
			if (n++ < diff->n_each && r >= 0)
				r = write_stream(diff, output, &streams->rows[i]);
		if (n == 0)
			fputs("none\n", output->f);
		if (n > diff->n_each)
			fprintf(output->f, "... %zu more, --all -n 0 shows them\n",
				n - diff->n_each);
	}
	return r;
}

char *diff_stream_format(const struct diff *diff, const struct diff_stream *row)
{
	enum side side = diff_stream_side(row);
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];

	view_stream_rows(diff->streams->views[side], row->ends[side].node, steps);
	return stream_text_step(&diff->sides[side].places, steps, SIZE_MAX);
}
