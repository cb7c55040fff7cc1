/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile format of Callgrind: the samples of each function, and for each pair of caller and
 * callee the samples below the call. A sample counts once for a pair, however often it is on its
 * stack. The number of calls is not known; 1 stands for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/export/call-tree.h"
#include "client/export/origin.h"
#include "client/export/writers.h"
#include "client/term/text.h"
#include "client/view/tree-merge.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

/* A caller and a callee. */
struct arc {
	uint32_t caller, callee;
	uint64_t samples;
	uint32_t last_row; /* the last row it was counted for */
};

struct arcs {
	struct arc *rows;
	size_t n, cap;
	struct tree_merge merge;
};

static void arcs_done(struct arcs *arcs)
{
	tree_merge_done(&arcs->merge);
	free(arcs->rows);
}

static int add_arc(struct arcs *arcs, const struct call_tree *tree, uint32_t row, uint32_t leaf)
{
	uint32_t callee = tree->rows[row].frame;
	uint32_t caller = tree->rows[tree->rows[row].parent].frame;
	int64_t number = tree_merge_find(&arcs->merge, PROFILE_NONE, (struct location){ caller, 0 },
					 (struct location){ callee, 0 });

	if (number < 0)
		return (int)number;
	if ((size_t)number == arcs->n) {
		if (ARRAY_RESERVE(&arcs->rows, &arcs->cap, arcs->n + 1) < 0)
			return -ENOMEM;
		arcs->rows[arcs->n++] = (struct arc){ caller, callee, 0, PROFILE_NONE };
	}
	if (arcs->rows[number].last_row != leaf)
		arcs->rows[number].samples += tree->rows[leaf].samples;
	arcs->rows[number].last_row = leaf;
	return 0;
}

static int add_row(struct arcs *arcs, const struct call_tree *tree, uint32_t leaf)
{
	uint32_t at = leaf;
	int r = 0;

	for (; r >= 0 && tree->rows[at].parent != PROFILE_NONE; at = tree->rows[at].parent)
		r = add_arc(arcs, tree, at, leaf);
	return r;
}

static int compare(const void *p, const void *q)
{
	const struct arc *a = p, *b = q;

	return a->caller != b->caller ? (a->caller < b->caller ? -1 : 1) :
					(a->callee > b->callee) - (a->callee < b->callee);
}

static int count_arcs(struct arcs *arcs, const struct call_tree *tree)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < tree->n_rows; i++)
		if (tree->rows[i].samples > 0)
			r = add_row(arcs, tree, (uint32_t)i);
	if (r >= 0 && arcs->n > 0)
		qsort(arcs->rows, arcs->n, sizeof(*arcs->rows), compare);
	return r;
}

/* "(1)" would be a reference. */
static void write_path(const char *key, const char *path, FILE *f)
{
	fprintf(f, "%s=%s", key, path[0] == '(' ? "./" : "");
	text_write(f, path);
	putc('\n', f);
}

/* Each name has the number of its frame before it, so it cannot be taken for a reference. */
static void write_name(const struct export_input *input, const struct call_tree *tree,
		       uint32_t number, bool called, FILE *f)
{
	const struct call_tree_frame *frame = &tree->frames[number];
	struct place place = place_find(&input->places, frame->at);
	bool known = place.object && place.object->path[0];

	write_path(called ? "cob" : "ob", known ? place.object->path : "[unknown]", f);
	write_path(called ? "cfi" : "fl", place.file ?: "???", f);
	fprintf(f, "%s=(%" PRIu32 ") %s\n", called ? "cfn" : "fn", number + 1, frame->name);
}

static uint32_t line_of(const struct export_input *input, const struct call_tree_frame *frame)
{
	struct place place = place_find(&input->places, frame->at);

	return place.file ? place.line : 0;
}

static void write_function(const struct export_input *input, const struct call_tree *tree,
			   uint32_t number, uint64_t self, FILE *f)
{
	putc('\n', f);
	write_name(input, tree, number, false, f);
	fprintf(f, "%" PRIu32 " %" PRIu64 "\n", line_of(input, &tree->frames[number]), self);
}

static void write_arc(const struct export_input *input, const struct call_tree *tree,
		      const struct arc *arc, FILE *f)
{
	const struct call_tree_frame *callee = &tree->frames[arc->callee];

	write_name(input, tree, arc->callee, true, f);
	fprintf(f, "calls=1 %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n", line_of(input, callee),
		line_of(input, &tree->frames[arc->caller]), arc->samples);
}

static int write_functions(const struct export_input *input, const struct call_tree *tree,
			   const struct arcs *arcs, FILE *f)
{
	_cleanup_free_ uint64_t *self = NULL;
	size_t arc = 0;

	if (ARRAY_ALLOCATE_ZEROED(&self, tree->n_frames) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n_rows; i++)
		self[tree->rows[i].frame] += tree->rows[i].samples;
	for (uint32_t i = 0; i < tree->n_frames; i++) {
		write_function(input, tree, i, self[i], f);
		for (; arc < arcs->n && arcs->rows[arc].caller == i; arc++)
			write_arc(input, tree, &arcs->rows[arc], f);
	}
	return 0;
}

int callgrind_write(const struct export_input *input, FILE *f)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(arcs_done) struct arcs arcs = {};
	int r = call_tree_new(&tree, &input->places, CALL_TREE_BY_OBJECT);

	if (r >= 0)
		r = count_arcs(&arcs, tree);
	if (r < 0)
		return r;
	fputs("# callgrind format\nversion: 1\ncreator: branchd\ncmd: ", f);
	text_write(f, input->source->name);
	fputs("\ndesc: Event: ", f);
	text_write(f, origin_event(input->source));
	fputs("\npositions: line\nevents: Samples\n", f);
	fprintf(f, "summary: %" PRIu64 "\n", input->source->shown->counters.samples);
	return write_functions(input, tree, &arcs, f);
}
