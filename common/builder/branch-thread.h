/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the branch records of a recording, which stay in memory, in a thread of its own while its
 * owner reads on. Snapshots are handed over in groups of some milliseconds of work, so that waking
 * and waiting cost little beside it. The counts and their order are the same as without the thread.
 */
#pragma once

#include <stddef.h>

#include "common/builder/branch-counter.h"
#include "common/builder/counted-snapshot.h"
#include "common/util/macro.h"

#define BRANCH_THREAD_MIN_ROWS (1u << 15)

struct branch_thread;

/*
 * Counts with @counter, which belongs to the thread from a branch_thread_add() to the next
 * branch_thread_wait(), and must be initialised before the first branch_thread_add(). At most
 * @max_rows records wait at a time, or BRANCH_THREAD_MIN_ROWS if that is more. -errno.
 */
int branch_thread_new(struct branch_thread **ret, struct branch_counter *counter, size_t max_rows);

/* Snapshots that still wait are not counted. */
struct branch_thread *branch_thread_free(struct branch_thread *thread);
DEFINE_CLEANUP(struct branch_thread *, branch_thread_free);

/* Queues the snapshot, whose records must stay until it is counted. 0; -ENOMEM, which may be the
 * error of an earlier snapshot. */
int branch_thread_add(struct branch_thread *thread, const struct counted_snapshot *snapshot);

/* Counts the snapshot before it returns, after all that were added. 0 or -ENOMEM. */
int branch_thread_count(struct branch_thread *thread, const struct counted_snapshot *snapshot);

/* Waits until all snapshots are counted. 0 or -ENOMEM. */
int branch_thread_wait(struct branch_thread *thread);

/* An upper bound of the number of distinct records: each record that waits may be a new one. It
 * depends only on the records added and waited for, not on the progress of the thread. */
size_t branch_thread_most_counts(const struct branch_thread *thread);
