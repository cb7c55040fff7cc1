/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting streams: the branch paths that led to the samples, newest first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/counted-snapshot.h"
#include "common/builder/path-tree.h"

#define STREAM_MAX_ROWS 64u /* of a path */
#define STREAM_AHEAD    6u  /* steps that are asked for from memory before they are gone */
#define STREAMS_WAITING 3u

/* The path of a sample on its way into the tree. */
struct stream {
	const struct branch_record *rows; /* newest first; they stay whoever's they are */
	size_t n;                         /* 0: there is none */
	uint32_t context;
	uint64_t hashes[STREAM_AHEAD]; /* of the next steps */
};

/*
 * Those of the last samples, each a stage further with every one that comes, so that what was asked
 * for is there when it is used, as in row-table.h. Zeroed it is empty.
 */
struct stream_queue {
	struct stream streams[STREAMS_WAITING];
	unsigned int newest;
};

/*
 * Counts the path of a snapshot, as far as each row is joined to the next by a run. Its rows must
 * stay until STREAMS_WAITING more have come, or stream_queue_flush() has been called. 1; 0 if there
 * is none, as the newest row cannot be believed; -ENOMEM.
 *
 * The more samples there are, the fewer new nodes it may bring, so that paths seen once cost
 * little: it is then counted where it had to stop. A path of n rows thereby misses so few samples
 * that it is under half of a thousandth of all.
 */
int stream_queue_put(struct stream_queue *queue, struct path_tree *tree,
		     const struct counted_snapshot *snapshot);

/* Counts those that wait. 0 or -ENOMEM. */
int stream_queue_flush(struct stream_queue *queue, struct path_tree *tree);

/*
 * When the window closes: folds paths of under a thousandth of the samples, and in any case those
 * of up to @light samples. 0 or -ENOMEM.
 */
int stream_prune(struct path_tree *tree, uint32_t light);
