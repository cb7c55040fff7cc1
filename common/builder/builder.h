/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The builder: one open window. Samples in, a profile out.
 *
 * A sample costs one hash step a branch record and one a frame, all by raw address (branch-table.h,
 * path-tree.h), and a few steps for its stream (stream.h). When the window closes, the counts are
 * flushed: addresses become locations in objects, once per distinct record, and invalid records and
 * runs are skipped and counted by reason. The window is flushed earlier when it holds too much of
 * replaced address spaces; its stacks are when it holds many, lest they lose frames.
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
 * Counts a sample, or a record of loss; ignores other events. The builder keeps references to
 * process contexts of @processes and, with rows_ahead, to records that stay in memory, until the
 * window is closed or the builder freed: that must come before the recording is closed. 0, or
 * -ENOMEM: then the builder can only be freed. A full table is no error; it is counted.
 */
int builder_add(struct builder *builder, struct processes *processes, const struct event *event);

/* The same for a sample of @process_context, which may be an earlier one of its process. */
int builder_add_of(struct builder *builder, const struct processes *processes,
		   struct process_context *process_context, const struct event *event);

/* Samples at one address that have no stack of their own. */
struct builder_ticks {
	uint64_t ip, n;
	uint64_t weight; /* the sum of their periods */
};

/* Counts @ticks of @process_context; their stacks are to be estimated (common/profile/spread.h). 0
 * or -ENOMEM, as above. */
int builder_add_ticks(struct builder *builder, const struct processes *processes,
		      struct process_context *process_context, const struct builder_ticks *ticks);

/* Takes note of events that invalidate the stacks of tasks. */
void builder_observe(struct builder *builder, const struct event *event);

/* Whether processes that came and went stay apart in what is flushed from now on, even if they are
 * to be united. */
void builder_keep_processes(struct builder *builder, bool keep);

/* Whether to flush soon, lest stacks lose frames or something is flushed at a bad time. */
bool builder_is_filling(const struct builder *builder);

/* Makes room in the open window for stacks and ticks; and as builder_set_flushed(). 0 or -ENOMEM,
 * as above. */
int builder_flush(struct builder *builder, const struct processes *processes, uint64_t until_ns);

/* What was flushed or closed last had all samples until @until_ns, but for few: processes that
 * started before may be in it. */
void builder_set_flushed(struct builder *builder, uint64_t until_ns);

/* Closes the window: *@ret is its profile, not finalized yet so that symbols can be added. The
 * builder is empty and open again. 0, or -ENOMEM: then it can only be freed. */
int builder_close(struct builder *builder, const struct processes *processes, struct profile **ret);
