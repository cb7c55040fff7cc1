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

#include "common/builder/builder-settings.h"
#include "common/process/processes.h"
#include "common/profile/profile.h"
#include "common/record/event.h"

struct builder;

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
