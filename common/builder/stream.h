/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts streams: the branch paths that led to the samples, newest branch first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/counted-snapshot.h"
#include "common/builder/path-tree.h"

#define STREAM_MAX_ROWS 64u /* in a path */
#define STREAM_AHEAD    6u  /* steps that are prefetched */
#define STREAMS_WAITING 3u

/* The path of a sample on its way into the tree. */
struct stream {
	const struct branch_record *rows; /* newest first; borrowed */
	size_t n;                         /* 0: no path */
	uint32_t context;
	uint64_t hashes[STREAM_AHEAD]; /* of the next steps */
};

/* The streams of the last samples. Each new one moves the others a stage on, so that what was
 * prefetched has arrived when it is used, as in branch-table.h. Zeroed it is empty. */
struct stream_queue {
	struct stream streams[STREAMS_WAITING];
	unsigned int newest;
};

/*
 * Counts the path of a snapshot, up to the first record that no run joins to the next. Its records
 * must stay until STREAMS_WAITING more have come, or until stream_queue_flush(). 1; 0 if there is
 * no path, as the newest record is invalid; -ENOMEM.
 *
 * The more samples there are, the fewer nodes a new path may add, so that paths seen once cost
 * little: the sample is then counted where the path had to stop. Thereby a path of n records misses
 * less than half of a thousandth of all samples.
 */
int stream_queue_put(struct stream_queue *queue, struct path_tree *tree,
		     const struct counted_snapshot *snapshot);

/* Counts the streams that wait. 0 or -ENOMEM. */
int stream_queue_flush(struct stream_queue *queue, struct path_tree *tree);

/* At the end of a window: prunes the paths of under a thousandth of the samples, and in any case
 * those of up to @rare samples. 0 or -ENOMEM. */
int stream_prune(struct path_tree *tree, uint32_t rare);
