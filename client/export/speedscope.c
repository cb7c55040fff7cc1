/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file format of speedscope.app: shared frames, and stacks of their numbers with weights. */
#include <inttypes.h>

#include "client/export/call-tree.h"
#include "client/export/clean-text.h"
#include "client/export/process-names.h"
#include "client/export/writers.h"
#include "common/util/cleanup.h"

/* The numbers of the processes' names follow those of the functions. */
static void write_frames(const struct export_input *input, const struct call_tree *tree,
			 const struct process_names *names, FILE *f)
{
	struct place place;

	for (size_t i = 0; i < tree->n_frames; i++) {
		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", f);
		clean_text_json(f, tree->frames[i].name);
		if (tree->frames[i].object) {
			fputs(",\"file\":", f);
			place = place_find(&input->places, tree->frames[i].at);
			clean_text_json(f, place.file ?: tree->frames[i].object->path);
			if (place.file)
				fprintf(f, ",\"line\":%" PRIu32, place.line);
		}
		putc('}', f);
	}
	for (size_t i = 0; i < names->n; i++) {
		fputs(",\n{\"name\":", f);
		clean_text_json(f, names->rows[i]);
		putc('}', f);
	}
}

static void write_stacks(struct call_tree *tree, const struct process_names *names, FILE *f)
{
	const char *comma = "\n";

	for (size_t i = 0; i < tree->n_rows; i++) {
		const uint32_t *path;
		size_t n_path;

		if (tree->rows[i].samples == 0)
			continue;
		path = call_tree_path(tree, (uint32_t)i, &n_path);
		fprintf(f, "%s[%zu", comma,
			tree->n_frames + process_names_find(names, tree->rows[i].process));
		for (size_t k = 0; k < n_path; k++)
			fprintf(f, ",%" PRIu32, tree->rows[path[k]].frame);
		putc(']', f);
		comma = ",\n";
	}
}

static void write_weights(const struct call_tree *tree, FILE *f)
{
	const char *comma = "";

	for (size_t i = 0; i < tree->n_rows; i++)
		if (tree->rows[i].samples > 0) {
			fprintf(f, "%s%" PRIu64, comma, tree->rows[i].samples);
			comma = ",";
		}
}

int speedscope_write(const struct export_input *input, FILE *f)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(process_names_done) struct process_names names = {};
	int r = call_tree_new(&tree, &input->places, CALL_TREE_BY_OBJECT);

	if (r >= 0)
		r = process_names_init(&names, input->source->shown);
	if (r < 0)
		return r;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
	      "\"branchd\",\"name\":",
	      f);
	clean_text_json(f, input->source->name);
	fputs(",\"activeProfileIndex\":0,\"shared\":{\"frames\":[", f);
	write_frames(input, tree, &names, f);
	fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"samples\",\"unit\":\"none\","
	      "\"startValue\":0,",
	      f);
	fprintf(f, "\"endValue\":%" PRIu64 ",\"samples\":[",
		input->source->shown->counters.samples);
	write_stacks(tree, &names, f);
	fputs("],\n\"weights\":[", f);
	write_weights(tree, f);
	fputs("]}]}\n", f);
	return 0;
}
