/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folded stacks, as Brendan Gregg's FlameGraph scripts take them: "comm;outermost;...;innermost N",
 * where N is the number of samples. A semicolon in a name becomes a colon. A stack of several
 * processes with one name is one line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "client/export/call-tree.h"
#include "client/export/process-names.h"
#include "client/export/writers.h"

static void write_name(FILE *f, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, f);
}

/* In the order of their first stacks. */
struct line {
	char *text; /* the key */
	uint64_t samples;
	UT_hash_handle hh;
};

struct lines {
	struct line *table;
};

static void lines_done(struct lines *lines)
{
	struct line *line, *next;

	HASH_ITER(hh, lines->table, line, next) {
		HASH_DEL(lines->table, line);
		free(line->text);
		free(line);
	}
}

/* Takes over @text. */
static int add(struct lines *lines, char *text, uint64_t samples)
{
	struct line *line;
	size_t n = strlen(text);

	HASH_FIND(hh, lines->table, text, n, line);
	if (line) {
		line->samples += samples;
		free(text);
		return 0;
	}
	line = malloc(sizeof(*line));
	if (!line) {
		free(text);
		return -ENOMEM;
	}
	*line = (struct line){ .text = text, .samples = samples };
	HASH_ADD_KEYPTR(hh, lines->table, text, n, line);
	return 0;
}

static char *format_line(struct call_tree *tree, uint32_t row, const char *process)
{
	const uint32_t *path;
	size_t n_path, n_bytes;
	char *text = NULL;
	FILE *f = open_memstream(&text, &n_bytes);

	if (!f)
		return NULL;
	write_name(f, process);
	path = call_tree_path(tree, row, &n_path);
	for (size_t i = 0; i < n_path; i++) {
		putc(';', f);
		write_name(f, tree->frames[tree->rows[path[i]].frame].name);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

int stack_lines_write(const struct export_input *input, FILE *f)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(process_names_done) struct process_names names = {};
	_cleanup_(lines_done) struct lines lines = {};
	int r = call_tree_new(&tree, &input->places, CALL_TREE_BY_OBJECT);

	if (r >= 0)
		r = process_names_init(&names, input->source->shown);
	for (size_t i = 0; r >= 0 && i < tree->n_rows; i++) {
		const struct call_tree_row *row = &tree->rows[i];
		char *text;

		if (row->samples == 0)
			continue;
		text = format_line(tree, (uint32_t)i,
				   names.rows[process_names_find(&names, row->process)]);
		r = text ? add(&lines, text, row->samples) : -ENOMEM;
	}
	for (const struct line *line = lines.table; r >= 0 && line; line = line->hh.next)
		fprintf(f, "%s %" PRIu64 "\n", line->text, line->samples);
	return r;
}
