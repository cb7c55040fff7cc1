/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The builder: one open window. Samples in, counts up.
 *
 * The way of a sample touches raw addresses only, one hash step a row: the key is a branch together
 * with the run before it (incarnation, to of the older row, from, to), from which branches and blocks
 * both follow when the window closes. Only then addresses become places in objects, once per distinct
 * row; and rows and runs that cannot be believed are set aside, by reason.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/process/processes.h"
#include "common/profile/profile.h"
#include "common/record/event.h"

struct builder;

struct builder_settings {
	uint32_t source;       /* samples of this source count ... */
	bool all_sources;      /* ... or of any */
	bool call_stack_rows;  /* the rows are a call stack's: no branches */
	bool doubled_oldest;   /* the hardware may write its oldest row twice ... */
	uint32_t depth;        /* ... when all of this many rows are full */
	size_t max_rows;       /* distinct (run, branch) pairs; 0: a million */
	size_t max_frames;     /* nodes of the tree of stacks; 0: a million */
};

int builder_new(struct builder **ret, const struct builder_settings *settings);
struct builder *builder_free(struct builder *builder);
DEFINE_CLEANUP(struct builder *, builder_free);

/*
 * Counts a sample, or a record of loss; other events are passed over. What it keeps are references
 * to incarnations of @processes. 0 or -ENOMEM; a full table is no error but counted.
 */
int builder_add(struct builder *builder, struct processes *processes, const struct event *event);

/*
 * Closes the window: *@ret is its profile, not sealed yet so that names may be added. The builder
 * is empty and open again. 0 or -ENOMEM.
 */
int builder_close(struct builder *builder, struct processes *processes, struct profile **ret);
