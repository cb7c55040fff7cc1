/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting streams: the branch paths that led to the samples, newest first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/path-tree.h"
#include "common/builder/row-table.h"

#define STREAM_MAX_ROWS 64u

/*
 * Counts the path of a sample whose @n rows, at most STREAM_MAX_ROWS and at least one, lie oldest first in
 * @rows, as far as each is joined to the next by a run.
 *
 * The more samples there are, the fewer new nodes it may bring, so that paths seen once cost little: it is then
 * counted where it had to stop. A path of n rows thereby misses so few samples that it is under half of a
 * thousandth of all. 0 or -ENOMEM.
 */
int stream_add(struct path_tree *tree, uint32_t context, const struct counted_row *rows, size_t n);

/*
 * When the window closes: folds paths of under a thousandth of the samples, and in any case those of up to @light
 * samples. 0 or -ENOMEM.
 */
int stream_fold(struct path_tree *tree, uint32_t light);
