/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A changed instruction changes its innermost line, not the lines of the calls that were inlined
 * there. But an instruction is changed if any of its lines is, innermost or not.
 */
#include "client/diff/changed-lines.h"

#include <errno.h>
#include <stdlib.h>

#include "client/diff/code-align.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/strings.h"

#define MAX_FRAMES 16

struct line {
	const char *file; /* of the pool */
	uint32_t line;
};

struct lines {
	struct strings *strings;
	struct line *rows;
	size_t n, cap;
};

static void lines_done(struct lines *lines)
{
	strings_free(lines->strings);
	free(lines->rows);
}

static bool has_line(const struct lines *lines, const struct line *line)
{
	for (size_t i = 0; i < lines->n; i++)
		if (lines->rows[i].line == line->line && lines->rows[i].file == line->file)
			return true;
	return false;
}

/* The lines of the instruction, innermost first. Returns their number, or -ENOMEM. */
static int find_lines(const struct changed_code *code, size_t offset, struct strings *strings,
		      struct line ret[MAX_FRAMES])
{
	struct source_frame frames[MAX_FRAMES];
	int found = symbolizer_lines(code->symbolizer, code->object, code->start + offset, frames,
				     MAX_FRAMES);
	int n = 0;

	for (int i = 0; i < found; i++) {
		if (!frames[i].file || frames[i].line == 0)
			continue;
		ret[n] = (struct line){ strings_intern(strings, frames[i].file), frames[i].line };
		if (!ret[n++].file)
			return -ENOMEM;
	}
	return found < 0 ? found : n;
}

/* The lines of all instructions at once. */
static int load_lines(const struct changed_code *code)
{
	_cleanup_free_ uint64_t *offsets = NULL;
	size_t n = 0;

	if (ARRAY_ALLOCATE(&offsets, code->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++)
		if (code->to[i] != ALIGN_INSIDE)
			offsets[n++] = code->start + i;
	return symbolizer_load_lines(code->symbolizer, code->object, offsets, n);
}

static int list_changed(struct lines *lines, const struct changed_code *code)
{
	struct line found[MAX_FRAMES];
	int r = strings_new(&lines->strings);

	if (r >= 0)
		r = load_lines(code);
	for (size_t i = 0; r >= 0 && i < code->n; i++) {
		if (code->to[i] != ALIGN_NONE)
			continue;
		r = find_lines(code, i, lines->strings, found);
		if (r <= 0 || has_line(lines, &found[0]))
			continue;
		if (ARRAY_RESERVE(&lines->rows, &lines->cap, lines->n + 1) < 0)
			return -ENOMEM;
		lines->rows[lines->n++] = found[0];
	}
	return MIN(r, 0);
}

/* 1 or 0, or -ENOMEM. */
static int is_in(const struct lines *lines, const struct changed_code *code, size_t offset)
{
	struct line found[MAX_FRAMES];
	int n = find_lines(code, offset, lines->strings, found);

	for (int i = 0; i < n; i++)
		if (has_line(lines, &found[i]))
			return 1;
	return MIN(n, 0);
}

static int find_changed(const struct changed_code *own, const struct changed_code *other,
			const struct lines *own_lines, const struct lines *other_lines, size_t i)
{
	int r;

	if (own->to[i] == ALIGN_INSIDE)
		return 0;
	if (own->to[i] == ALIGN_NONE)
		return 1;
	r = is_in(own_lines, own, i);
	return r == 0 ? is_in(other_lines, other, own->to[i]) : r;
}

int changed_lines_find(bool **ret, const struct changed_code *own, const struct changed_code *other)
{
	_cleanup_(lines_done) struct lines own_lines = {};
	_cleanup_(lines_done) struct lines other_lines = {};
	_cleanup_free_ bool *changed = calloc(own->n + 1, sizeof(*changed));
	int r = changed ? 0 : -ENOMEM;

	if (r >= 0)
		r = list_changed(&own_lines, own);
	if (r >= 0)
		r = list_changed(&other_lines, other);
	for (size_t i = 0; r >= 0 && i < own->n; i++) {
		r = find_changed(own, other, &own_lines, &other_lines, i);
		changed[i] = r > 0;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(changed);
	return 0;
}
