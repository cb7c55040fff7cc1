/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/stream-lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/elide.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define INDENT "    "
#define MARK   "| "
#define GAP    "  "
#define NARROW 60 /* columns: notes are brief, and no column */

void stream_lines_done(struct stream_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->rows[i].name);
		free(lines->rows[i].place);
	}
}

/* Without a line the offset, or the address in the object, is the place. */
static int split_offset(struct stream_line *line, const struct place *place)
{
	const char *plus;

	line->name = place_format(place);
	if (!line->name)
		return -ENOMEM;
	plus = strrchr(line->name, '+');
	line->place = strdup(plus ? plus : "");
	if (plus)
		line->name[plus - line->name] = '\0';
	return line->place ? 0 : -ENOMEM;
}

static int name_line(struct stream_line *line, const struct place *place)
{
	const char *slash;

	if (!place->file)
		return split_offset(line, place);
	slash = strrchr(place->file, '/');
	line->name = strdup(place->function ? place->function->name : "[unknown]");
	if (asprintf(&line->place, "%s:%" PRIu32, slash ? slash + 1 : place->file, place->line) < 0)
		line->place = NULL;
	return line->name && line->place ? 0 : -ENOMEM;
}

/* A loop of one branch within one line is one line. */
static bool is_repeated(const struct stream_tree *tree, const struct stream_tree_node *node)
{
	return node->n_loop == 2 && node->most > 1 &&
	       stream_tree_node(tree, node->parent)->frame == node->frame;
}

/* The lines from @first on are a turn. */
static void mark_loop(struct stream_lines *lines, const struct stream_tree_node *node, size_t first)
{
	struct stream_line *last = &lines->rows[lines->n - 1];

	for (size_t i = first; i < lines->n; i++)
		lines->rows[i].in_loop = true;
	if (node->fewest == node->most)
		snprintf(last->note, sizeof(last->note), " (%" PRIu32 " times)", node->most);
	else
		snprintf(last->note, sizeof(last->note), " (%" PRIu32 "..%" PRIu32 " times)",
			 node->fewest, node->most);
}

static void measure(struct stream_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct stream_line *line = &lines->rows[i];

		if (line->changed)
			strcat(line->note, " *");
		lines->name_width = MAX(lines->name_width,
					strlen(line->name) + (line->in_loop ? strlen(MARK) : 0));
		lines->place_width = MAX(lines->place_width, strlen(line->place));
		lines->note_width = MAX(lines->note_width, strlen(line->note));
	}
}

int stream_lines_init(struct stream_lines *ret, const struct places *places,
		      const struct stream_tree *tree, enum side side, uint32_t node)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(tree, node, path), line_of[STREAM_DEPTH_MAX];

	*ret = (struct stream_lines){};
	for (size_t i = 0; i < n; i++) {
		const struct stream_tree_node *at = stream_tree_node(tree, path[i]);
		struct place place = place_find(places, at->ends[side].at);

		if (!is_repeated(tree, at) && name_line(&ret->rows[ret->n++], &place) < 0)
			return -ENOMEM;
		line_of[i] = ret->n - 1;
		ret->rows[ret->n - 1].changed |= at->ends[side].changed;
		if (at->n_loop > 0 && at->most > 1)
			mark_loop(ret, at, line_of[i + 1 - at->n_loop]);
	}
	measure(ret);
	return 0;
}

size_t stream_lines_count(const struct stream_tree *tree, uint32_t node)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(tree, node, path), n_lines = 0;

	for (size_t i = 0; i < n; i++)
		n_lines += !is_repeated(tree, stream_tree_node(tree, path[i]));
	return n_lines;
}

struct location stream_lines_at(const struct stream_tree *tree, uint32_t node, size_t i)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(tree, node, path);
	struct location at = { PROFILE_NONE, 0 };

	for (size_t k = 0; k < n; k++) {
		const struct stream_tree_node *here = stream_tree_node(tree, path[k]);

		if (is_repeated(tree, here))
			continue;
		at = here->ends[SIDE_OLD].at;
		if (i-- == 0)
			break;
	}
	return at;
}

bool stream_lines_equal(const struct stream_lines *a, const struct stream_lines *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct stream_line *x = &a->rows[i], *y = &b->rows[i];

		if (strcmp(x->name, y->name) != 0 || strcmp(x->place, y->place) != 0 ||
		    strcmp(x->note, y->note) != 0 || x->in_loop != y->in_loop)
			return false;
	}
	return true;
}

size_t stream_lines_width(const struct stream_lines *lines)
{
	return lines->name_width + strlen(GAP) + lines->place_width + lines->note_width;
}

/* " (2..12 times)" as " x2..12". */
static void shorten_note(char ret[STREAM_LINES_NOTE], const char *note)
{
	const char *turns = strstr(note, " ("), *end = strstr(note, " times)");

	if (turns && end)
		snprintf(ret, STREAM_LINES_NOTE, " x%.*s%s", (int)(end - turns - 2), turns + 2,
			 end + strlen(" times)"));
	else
		snprintf(ret, STREAM_LINES_NOTE, "%s", note);
}

/* The note of the line, and the columns for it. */
static size_t choose_note(char ret[STREAM_LINES_NOTE], const struct stream_lines *lines, size_t i,
			  bool narrow)
{
	if (narrow)
		shorten_note(ret, lines->rows[i].note);
	else
		snprintf(ret, STREAM_LINES_NOTE, "%s", lines->rows[i].note);
	return narrow ? strlen(ret) : lines->note_width;
}

int stream_lines_write(const struct stream_lines *lines, size_t i, FILE *f, size_t width, bool pad)
{
	const struct stream_line *line = &lines->rows[i];
	const char *mark = line->in_loop ? MARK : "";
	char note[STREAM_LINES_NOTE];
	size_t n_fixed = strlen(GAP) + choose_note(note, lines, i, width < NARROW && !pad);
	size_t n_note = strlen(note);
	size_t room = width > n_fixed ? width - n_fixed : 1;
	size_t n_spare = room > lines->name_width ? room - lines->name_width : 0;
	size_t n_most = MAX(room / 2, n_spare);
	size_t n_place = MIN(lines->place_width, n_most);
	size_t n_name = MIN(lines->name_width, room - n_place);
	size_t n_left = n_name > strlen(mark) ? n_name - strlen(mark) : 1;
	_cleanup_free_ char *name = elide_name(line->name, n_left);
	_cleanup_free_ char *place = elide_path(line->place, n_place);

	if (!name || !place)
		return -ENOMEM;
	fputs(mark, f);
	if (*place == '\0' && n_note == 0 && !pad) {
		text_write(f, name);
		return 0;
	}
	text_write_padded(f, name, (int)n_left);
	fputs(GAP, f);
	if (pad || (n_note > 0 && width >= NARROW))
		text_write_padded(f, place, (int)n_place);
	else
		text_write(f, place);
	fputs(note, f);
	if (pad)
		fprintf(f, "%*s", (int)(width - n_name - strlen(GAP) - n_place - n_note), "");
	return 0;
}

int stream_lines_write_all(const struct places *places, struct output *output,
			   const struct stream_tree *tree, uint32_t node)
{
	size_t width = output->width > strlen(INDENT) ? output->width - strlen(INDENT) : SIZE_MAX;
	_cleanup_(stream_lines_done) struct stream_lines lines = {};
	int r = stream_lines_init(&lines, places, tree, SIDE_OLD, node);

	for (size_t i = 0; r >= 0 && i < lines.n; i++) {
		fputs(INDENT, output->f);
		r = stream_lines_write(&lines, i, output->f, width, false);
		fputc('\n', output->f);
	}
	return r;
}
