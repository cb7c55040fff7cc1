/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a builder, which builder.c and flush.c share. Nobody else sees it. */
#pragma once

#include "common/builder/branch-counter.h"
#include "common/builder/branch-thread.h"
#include "common/builder/builder-settings.h"
#include "common/builder/path-tree.h"
#include "common/builder/stack-queue.h"
#include "common/builder/stream.h"
#include "common/process/process-context.h"
#include "common/profile/profile.h"
#include "common/stitch/stack.h"
#include "common/stitch/stitch.h"

/* Samples without a stack of their own. */
struct context_ticks {
	uint32_t context;
	uint64_t ip, n, weight;
	uint64_t surplus; /* of captured samples at @ip */
};

struct builder {
	struct builder_settings settings;
	struct branch_thread *thread; /* counts records that stay in memory; or NULL */
	uint64_t n_rows;              /* records, in this window */
	struct path_tree stacks, streams;
	struct stack_queue stack_queue;  /* stacks on their way into the tree */
	struct stream_queue queue;       /* streams on their way into the tree */
	bool stacks_are_full;            /* nearly all nodes are distinct leaves */
	struct stitch *stitch;           /* NULL: disabled. It outlives windows, as tasks do. */
	struct stitch_counters stitched; /* its counters when the window began */
	struct stack stack;              /* of the current sample */
	struct stitched callers;         /* the callers stitched to it */
	uint32_t n_stack_trees;          /* so far; nodes of one mean nothing in the next */
	/* The process contexts sampled in this window; raw addresses belong to them. */
	struct process_context **contexts;
	size_t n_contexts, cap_contexts;
	uint32_t *processes; /* in @flushed, of the first @n_processes contexts */
	size_t n_processes, cap_processes;
	size_t n_mappings;           /* of the address spaces of @contexts */
	struct context_ticks *ticks; /* until the next flush */
	size_t n_ticks, cap_ticks;
	struct profile *flushed; /* what was flushed of this window already, or NULL */
	size_t n_finalized;      /* its rows when it was last finalized */
	/* References to the objects that have an index in it. */
	struct object **objects;
	size_t n_objects, cap_objects;
	struct profile_counters counters;
	uint64_t start_ns, end_ns;
	uint64_t flushed_until_ns;  /* see builder_set_flushed() */
	bool keeps_processes;       /* see builder_keep_processes() */
	struct branch_counter rows; /* the thread's, while it counts */
};

/* Waits until all that was added is counted. 0 or -ENOMEM. */
int builder_state_wait(struct builder *b);

/* Releases the process contexts: the addresses of the window mean nothing any more. */
void builder_state_forget_contexts(struct builder *b);

/* Releases the objects: their indices mean nothing any more. What was learnt of them since they got
 * these goes into the profile. */
void builder_state_forget_objects(struct builder *b);

/* The profile was finalized: their indices become those of @map. */
void builder_state_map_objects(struct builder *b, const uint32_t *map);
