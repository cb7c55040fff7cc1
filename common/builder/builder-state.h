/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What builder.c (counting), settle.c and settle-paths.c (closing) share, and nobody else sees. */
#pragma once

#include "common/builder/branch-counter.h"
#include "common/builder/branch-thread.h"
#include "common/builder/builder-settings.h"
#include "common/builder/path-tree.h"
#include "common/builder/stream.h"
#include "common/process/process-context.h"
#include "common/profile/profile.h"
#include "common/stitch/stack.h"
#include "common/stitch/stitch.h"

struct builder {
	struct builder_settings settings;
	struct branch_counter rows;
	struct branch_thread *thread; /* counts them, where they stay; or NULL */
	uint64_t n_rows;              /* added */
	struct path_tree stacks, streams;
	struct stream_queue queue; /* of streams on their way into the tree */
	bool stacks_are_full;      /* there are more different leaves than there is room for */
	struct stitch *stitch;     /* NULL: not wanted. It outlives windows, as tasks do */
	struct stitch_counters stitched; /* what it had counted when the window began */
	struct stack stack;              /* of the sample that is being counted */
	struct stitched callers;         /* and what was stitched to it */
	uint32_t n_stack_trees; /* there have been: nodes of one have no meaning in the next */
	struct process_context *
		*contexts; /* those sampled in this window; raw addresses are theirs */
	size_t n_contexts, cap_contexts;
	size_t n_mappings;       /* of their address spaces, which live on until they are let go */
	struct profile *flushed; /* what was flushed of this window already, or NULL */
	struct profile_counters counters;
	uint64_t start_ns, end_ns;
};

/* Until all is counted that was added. 0 or -ENOMEM. */
int builder_state_wait(struct builder *b);

/* Lets go of all process_contexts: the window's addresses have no meaning any more. */
void builder_state_forget_contexts(struct builder *b);
