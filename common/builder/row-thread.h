/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts rows in a thread of its own while its owner reads on: rows of a recording, which stay where they are.
 * Snapshots are handed over in groups, each the work of some milliseconds, beside which waking and waiting cost
 * nothing. What is counted, and in which order, is the same as without.
 */
#pragma once

#include <stddef.h>

#include "common/builder/counted-snapshot.h"
#include "common/builder/row-counter.h"
#include "common/util/macro.h"

#define ROW_THREAD_MIN_ROWS (1u << 15)

struct row_thread;

/*
 * Counts with @counter, which is nobody else's from a row_thread_add() to the next row_thread_wait(), and need not
 * be there before the first. At most @max_rows rows are under way at a time; at least ROW_THREAD_MIN_ROWS may be.
 * -errno.
 */
int row_thread_new(struct row_thread **ret, struct row_counter *counter, size_t max_rows);

/* What still waits is not counted any more. */
struct row_thread *row_thread_free(struct row_thread *thread);
DEFINE_CLEANUP(struct row_thread *, row_thread_free);

/* Has the snapshot counted, whose rows must stay until it is. 0; -ENOMEM, which may be of one before. */
int row_thread_add(struct row_thread *thread, const struct counted_snapshot *snapshot);

/* Counts it now, after all before it. 0 or -ENOMEM. */
int row_thread_count(struct row_thread *thread, const struct counted_snapshot *snapshot);

/* Until all are counted. 0 or -ENOMEM. */
int row_thread_wait(struct row_thread *thread);

/*
 * How many distinct rows there may be by now: those under way may all be new. It hangs on what was added and waited
 * for alone, not on how far the thread is.
 */
size_t row_thread_most_counts(const struct row_thread *thread);
