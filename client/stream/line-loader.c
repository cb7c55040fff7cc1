/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stream/line-loader.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

int line_loader_add(struct line_loader *loader, struct location at)
{
	if (ARRAY_RESERVE(&loader->rows, &loader->cap, loader->n + 1) < 0)
		return -ENOMEM;
	loader->rows[loader->n++] = at;
	return 0;
}

int line_loader_add_block(struct line_loader *loader, const struct profile_block *block)
{
	int r = line_loader_add(loader, (struct location){ block->object, block->start });

	if (r < 0)
		return r;
	return line_loader_add(loader, (struct location){ block->object, block->end });
}

int line_loader_add_stream(struct line_loader *loader, const struct view_streams *streams,
			   uint32_t node)
{
	int r = 0;

	for (; r >= 0 && node != PROFILE_NONE; node = streams->nodes[node].parent) {
		r = line_loader_add(loader, streams->nodes[node].from);
		if (r >= 0)
			r = line_loader_add(loader, streams->nodes[node].to);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	return view_compare_locations(*(const struct location *)a, *(const struct location *)b);
}

/* Loads the lines of the first @n locations, which are of one object. */
static int load_object(const struct location *rows, size_t n, const struct profile *profile,
		       struct symbolizer *symbolizer)
{
	_cleanup_free_ uint64_t *offsets = NULL;
	size_t n_offsets = 0;

	if (rows[0].object == PROFILE_NONE)
		return 0;
	if (ARRAY_ALLOCATE(&offsets, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (n_offsets == 0 || offsets[n_offsets - 1] != rows[i].offset)
			offsets[n_offsets++] = rows[i].offset;
	return symbolizer_load_lines(symbolizer, &profile->objects[rows[0].object], offsets,
				     n_offsets);
}

int line_loader_run(struct line_loader *loader, const struct profile *profile,
		    struct symbolizer *symbolizer)
{
	const struct location *rows = loader->rows;
	size_t end;
	int r = 0;

	if (loader->n > 1)
		qsort(loader->rows, loader->n, sizeof(*loader->rows), compare);
	for (size_t i = 0; r >= 0 && i < loader->n; i = end) {
		for (end = i + 1; end < loader->n && rows[end].object == rows[i].object;)
			end++;
		r = load_object(rows + i, end - i, profile, symbolizer);
	}
	return r;
}

void line_loader_done(struct line_loader *loader)
{
	free(loader->rows);
	*loader = (struct line_loader){};
}

int line_loader_load_streams(const struct view_streams *streams, const struct profile *profile,
			     struct symbolizer *symbolizer)
{
	_cleanup_(line_loader_done) struct line_loader loader = {};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < streams->n_nodes; i++) {
		r = line_loader_add(&loader, streams->nodes[i].from);
		if (r >= 0)
			r = line_loader_add(&loader, streams->nodes[i].to);
	}
	return r < 0 || !symbolizer ? r : line_loader_run(&loader, profile, symbolizer);
}
