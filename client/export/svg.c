/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A flame graph as an image, for documents: the tree of `branchctl top --by stack --tree`, callers
 * below. Narrow frames are left out. Titles are what readers show at the pointer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/clean-text.h"
#include "client/export/writers.h"
#include "client/stack/tree.h"
#include "client/term/text.h"
#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Pixels. The narrowest frame has 0.1 %. */
#define WIDTH     1200.0
#define ROW       18
#define TOP       30 /* above the graph, for its name */
#define NARROWEST (WIDTH / 1000)
#define LETTER    7.2 /* of a font of 12, about */

struct drawing {
	const struct export_input *input;
	const struct view_tree *tree;
	double scale;   /* pixels per sample */
	double *starts; /* the left of the next row of each depth */
	uint32_t n_levels;
};

static double width_of(const struct drawing *drawing, const struct view_tree_row *row)
{
	return (double)row->total * drawing->scale;
}

static char *name_of(const struct drawing *drawing, const struct view_tree_row *row)
{
	struct place place = place_find(&drawing->input->places, row->frame);
	_cleanup_free_ char *name =
		place.function ? strdup(place.function->name) : place_format(&place);

	return name ? clean_text(name) : NULL;
}

/* Cuts @name if it has more than @room characters, of which the last is left for a sign. */
static bool cut(char *name, size_t room)
{
	size_t n = 0;
	char *end = name; /* of all but the last that fits */

	for (char *at = name; *at; at++) {
		if ((*at & 0xc0) == 0x80)
			continue;
		if (++n == room)
			end = at;
		if (n > room) {
			*end = '\0';
			return true;
		}
	}
	return false;
}

/* In a viewport of its own, so that a name of wide letters ends with its frame. */
static void write_label(char *name, double x, uint32_t y, double width, FILE *f)
{
	bool is_cut = cut(name, (size_t)(width / LETTER) - 1);

	fprintf(f,
		"<svg x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\">"
		"<text x=\"3\" y=\"13\">",
		x, y, width - 0.5, ROW - 1);
	clean_text_html(f, name);
	fputs(is_cut ? "…</text></svg>" : "</text></svg>", f);
}

static int write_row(const struct drawing *drawing, const struct view_tree_row *row, double x,
		     FILE *f)
{
	_cleanup_free_ char *name = name_of(drawing, row);
	double width = width_of(drawing, row);
	uint32_t y = TOP + (drawing->n_levels - 1 - row->depth) * ROW;
	bool is_kernel = view_is_kernel(drawing->input->places.profile, row->frame);

	if (!name)
		return -ENOMEM;
	fputs("<g><title>", f);
	clean_text_html(f, name);
	fprintf(f, ": %" PRIu64 " sample%s, %.2f %%; %" PRIu64 " in itself</title>", row->total,
		text_plural(row->total), 100 * width / WIDTH, row->self);
	fprintf(f, "<rect class=\"%s\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>",
		is_kernel ? "kernel" : "user", x, y, MAX(width - 0.5, NARROWEST), ROW - 1);
	if (is_kernel)
		fprintf(f,
			"<rect fill=\"url(#hatch)\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
			"height=\"%d\"/>",
			x, y, MAX(width - 0.5, NARROWEST), ROW - 1);
	if (width > 4 * LETTER)
		write_label(name, x, y, width, f);
	fputs("</g>\n", f);
	return 0;
}

static int write_rows(struct drawing *drawing, FILE *f)
{
	const struct view_tree *tree = drawing->tree;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < tree->n_rows; i++) {
		const struct view_tree_row *row = &tree->rows[i];
		double *start = &drawing->starts[row->depth], x = *start;

		start[0] += width_of(drawing, row);
		start[1] = x; /* of the rows below it, which follow */
		if (width_of(drawing, row) >= NARROWEST)
			r = write_row(drawing, row, x, f);
	}
	return r;
}

static void write_head(const struct drawing *drawing, FILE *f)
{
	uint32_t height = TOP + drawing->n_levels * ROW + 4;
	uint64_t n_samples = drawing->input->source->shown->counters.samples;

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" width=\"%.0f\" "
		"height=\"%u\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>",
		WIDTH, height, WIDTH, height);
	clean_text_html(f, drawing->input->source->name);
	fputs("</title>\n<style>.user { fill: #f2a65a } .kernel { fill: #8fbfe0 }</style>\n"
	      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
	      "patternUnits=\"userSpaceOnUse\"><path d=\"M0 6 L6 0\" stroke=\"#0003\"/></pattern>"
	      "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
	      "<text x=\"3\" y=\"19\">",
	      f);
	clean_text_html(f, drawing->input->source->name);
	fprintf(f,
		": %" PRIu64
		" sample%s; hatched: kernel; frames below 0.1 %% are left out</text>\n",
		n_samples, text_plural(n_samples));
}

/* The levels of what is drawn. 0 or -ENOMEM. */
static int measure(struct drawing *drawing)
{
	const struct view_tree *tree = drawing->tree;
	uint64_t samples = 0;
	uint32_t deepest = 0;

	for (size_t i = 0; i < tree->n_rows; i++) {
		samples += tree->rows[i].self;
		deepest = MAX(deepest, tree->rows[i].depth);
	}
	drawing->scale = samples > 0 ? WIDTH / (double)samples : 0;
	for (size_t i = 0; i < tree->n_rows; i++)
		if (width_of(drawing, &tree->rows[i]) >= NARROWEST)
			drawing->n_levels = MAX(drawing->n_levels, tree->rows[i].depth + 1);
	return ARRAY_ALLOCATE_ZEROED(&drawing->starts, (size_t)deepest + 2);
}

int svg_write(const struct export_input *input, FILE *f)
{
	_cleanup_(view_tree_freep) struct view_tree *tree = NULL;
	_cleanup_free_ double *starts = NULL;
	struct drawing drawing = { .input = input };
	int r = view_tree(&tree, input->source->shown, VIEW_TREE_CALLER, 0);

	if (r < 0)
		return r;
	drawing.tree = tree;
	r = measure(&drawing);
	starts = drawing.starts;
	if (r < 0)
		return r;
	write_head(&drawing, f);
	r = write_rows(&drawing, f);
	fputs("</svg>\n", f);
	return r;
}
