/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts rows in a thread of its own while its owner reads on: rows of a recording, which stay
 * where they are. Snapshots are handed over in groups, each the work of some milliseconds, beside
 * which waking and waiting cost nothing. What is counted, and in which order, is the same as
 * without.
 */
#pragma once

#include <stddef.h>

#include "common/builder/branch-counter.h"
#include "common/builder/counted-snapshot.h"
#include "common/util/macro.h"

#define BRANCH_THREAD_MIN_ROWS (1u << 15)

struct branch_thread;

/*
 * Counts with @counter, which is nobody else's from a branch_thread_add() to the next
 * branch_thread_wait(), and need not be there before the first. At most @max_rows rows are under
 * way at a time; at least BRANCH_THREAD_MIN_ROWS may be. -errno.
 */
int branch_thread_new(struct branch_thread **ret, struct branch_counter *counter, size_t max_rows);

/* What still waits is not counted any more. */
struct branch_thread *branch_thread_free(struct branch_thread *thread);
DEFINE_CLEANUP(struct branch_thread *, branch_thread_free);

/* Has the snapshot counted, whose rows must stay until it is. 0; -ENOMEM, which may be of one
 * before. */
int branch_thread_add(struct branch_thread *thread, const struct counted_snapshot *snapshot);

/* Counts it now, after all before it. 0 or -ENOMEM. */
int branch_thread_count(struct branch_thread *thread, const struct counted_snapshot *snapshot);

/* Until all are counted. 0 or -ENOMEM. */
int branch_thread_wait(struct branch_thread *thread);

/*
 * How many distinct rows there may be by now: those under way may all be new. It hangs on what was
 * added and waited for alone, not on how far the thread is.
 */
size_t branch_thread_most_counts(const struct branch_thread *thread);
