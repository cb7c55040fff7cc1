/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The builder: one open window. Samples in, counts up.
 *
 * The way of a sample touches raw addresses only, one hash step a row and one a frame (row-table.h,
 * path-tree.h), and a few for the path of branches that led to it (stream.h). When the window
 * closes, addresses become places in objects, once per distinct row; and rows and runs that cannot
 * be believed are set aside, by reason. It is settled before that, and added up in the end, where
 * what it holds of replaced address spaces gets too much.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/process/processes.h"
#include "common/profile/profile.h"
#include "common/record/event.h"
#include "common/stitch/stitch.h"

struct builder;

struct builder_settings {
	uint32_t source;  /* samples of this source count */
	uint32_t doubled; /* where not 0: a full snapshot of this many rows may hold its newest
			     twice */
	bool unbounded;  /* a full table is settled and begun anew: memory grows with the profile */
	size_t max_rows; /* distinct runs and branches, in pairs; 0: a quarter of a million */
	size_t max_frames;  /* nodes of the tree of stacks; 0: a quarter of a million */
	size_t max_streams; /* and of that of streams; 0: 64 Ki. At least 256 */
	uint32_t
		light_streams; /* streams of so many samples are not kept, whatever share that is */
	bool no_stitch;        /* call stacks by each sample's own rows */
	size_t rows_ahead; /* rows that stay may wait for a thread of their own, so many; 0: none */
	struct stitch_settings stitch;
};

int builder_new(struct builder **ret, const struct builder_settings *settings);
struct builder *builder_free(struct builder *builder);
DEFINE_CLEANUP(struct builder *, builder_free);

/*
 * Counts a sample, or a record of loss; other events are passed over. What it keeps are references
 * to process_contexts of @processes and, with rows_ahead, rows that stay: until the window is
 * closed or the builder freed, so that comes before the recording is. 0, or -ENOMEM: then it can
 * only be freed. A full table is no error but counted.
 */
int builder_add(struct builder *builder, struct processes *processes, const struct event *event);

/* Takes note of what happens to tasks, which may end what is known of their stacks. */
void builder_observe(struct builder *builder, const struct event *event);

/*
 * Closes the window: *@ret is its profile, not sealed yet so that names may be added. The builder
 * is empty and open again. 0, or -ENOMEM: then it can only be freed.
 */
int builder_close(struct builder *builder, const struct processes *processes, struct profile **ret);
