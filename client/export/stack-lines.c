/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folded stacks, as Brendan Gregg's FlameGraph scripts take them: "comm;outermost;...;innermost N",
 * where N is the number of samples. A semicolon in a name becomes a colon.
 */
#include <inttypes.h>

#include "client/export/call-tree.h"
#include "client/export/process-names.h"
#include "client/export/writers.h"

static void write_name(FILE *f, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, f);
}

int stack_lines_write(const struct export_input *input, FILE *f)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(process_names_done) struct process_names names = {};
	int r = call_tree_new(&tree, &input->places, CALL_TREE_BY_OBJECT);

	if (r >= 0)
		r = process_names_init(&names, input->source->shown);
	for (size_t i = 0; r >= 0 && i < tree->n_rows; i++) {
		const uint32_t *path;
		size_t n_path;

		if (tree->rows[i].samples == 0)
			continue;
		write_name(f, names.rows[process_names_find(&names, tree->rows[i].process)]);
		path = call_tree_path(tree, (uint32_t)i, &n_path);
		for (size_t k = 0; k < n_path; k++) {
			putc(';', f);
			write_name(f, tree->frames[tree->rows[path[k]].frame].name);
		}
		fprintf(f, " %" PRIu64 "\n", tree->rows[i].samples);
	}
	return r;
}
