/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting streams: the branch paths that led to the samples, newest first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/path-tree.h"
#include "common/builder/row-table.h"

#define STREAM_MAX_ROWS 64u
#define STREAM_AHEAD    6u

/*
 * The path of a sample on its way into the tree. Its first steps, which are mostly all that is there of it, are
 * asked for from memory before they are used, as in row-table.h.
 */
struct stream {
	const struct counted_row *rows; /* oldest first, which stay the caller's */
	size_t n;                       /* at most STREAM_MAX_ROWS; 0: there is none */
	uint32_t context;
	uint64_t hashes[STREAM_AHEAD]; /* of the first steps */
};

/* Begins with @n rows of a sample, at least one, and asks where its path is. */
void stream_begin(struct stream *stream, const struct path_tree *tree, uint32_t context,
		  const struct counted_row *rows, size_t n);

/* That is known by now: asks for the nodes. */
void stream_prefetch(const struct stream *stream, const struct path_tree *tree);

/*
 * Counts the path, as far as each row is joined to the next by a run.
 *
 * The more samples there are, the fewer new nodes it may bring, so that paths seen once cost little: it is then
 * counted where it had to stop. A path of n rows thereby misses so few samples that it is under half of a
 * thousandth of all. 0 or -ENOMEM.
 */
int stream_add(const struct stream *stream, struct path_tree *tree);

/*
 * When the window closes: folds paths of under a thousandth of the samples, and in any case those of up to @light
 * samples. 0 or -ENOMEM.
 */
int stream_fold(struct path_tree *tree, uint32_t light);
