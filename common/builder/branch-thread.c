/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/branch-thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/thread.h"

#define N_GROUPS          4u
#define GROUP_MAX         2048u /* snapshots */
/* Branch records: no record of perf holds more. */
#define SNAPSHOT_MAX      (UINT16_MAX / sizeof(struct branch_record) + 1)
#define SNAPSHOTS_AHEAD   2u
#define ROWS_A_CACHE_LINE (64 / sizeof(struct branch_record))

_Static_assert(BRANCH_THREAD_MIN_ROWS >= N_GROUPS * 2 * SNAPSHOT_MAX,
	       "a group holds more than one");

/* The number of records, and of distinct ones, after a group was counted. */
struct progress {
	uint64_t n_rows;
	size_t n_counts;
};

struct group {
	struct counted_snapshot snapshots[GROUP_MAX];
	size_t n;
	size_t n_rows; /* of all */
	struct progress after;
};

struct branch_thread {
	struct branch_counter *counter;
	pthread_t thread;
	size_t max_group; /* rows */

	/* The owner's. */
	uint64_t n_rows; /* added */
	struct progress seen;

	/* A ring: the owner fills one group, those before it wait. */
	struct group groups[N_GROUPS];
	unsigned int filling;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, less;
	unsigned int n_waiting; /* groups, including the one being counted */
	int error;
	bool ends;
};

/* Waits for the next group to count; NULL at the end. */
static struct group *next_group(struct branch_thread *t, unsigned int number)
{
	bool ends;

	pthread_mutex_lock(&t->lock);
	while (t->n_waiting == 0 && !t->ends)
		pthread_cond_wait(&t->more, &t->lock);
	ends = t->ends;
	pthread_mutex_unlock(&t->lock);
	return ends ? NULL : &t->groups[number % N_GROUPS];
}

/* The records of samples lie far apart: prefetches those of one into the second cache. */
static void prefetch(const struct counted_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_rows; i += ROWS_A_CACHE_LINE)
		__builtin_prefetch(&snapshot->rows[i], 0, 2);
}

static int count_group(struct branch_counter *counter, struct group *group)
{
	int r = 0;

	for (size_t i = 0; i < group->n && r >= 0; i++) {
		if (i + SNAPSHOTS_AHEAD < group->n)
			prefetch(&group->snapshots[i + SNAPSHOTS_AHEAD]);
		r = branch_counter_add(counter, &group->snapshots[i]);
	}
	group->after.n_counts = counter->table.n_counts;
	return r;
}

/* Wakes the owner only when there is room for several groups, so that it does not wait for each. */
static void finish_group(struct branch_thread *t, int r)
{
	pthread_mutex_lock(&t->lock);
	t->n_waiting--;
	t->error = r < 0 ? r : t->error;
	if (t->n_waiting <= N_GROUPS / 2)
		pthread_cond_signal(&t->less);
	pthread_mutex_unlock(&t->lock);
}

static void *run(void *userdata)
{
	struct branch_thread *t = userdata;
	struct group *group;

	pthread_setname_np(pthread_self(), "rows");
	for (unsigned int number = 0; (group = next_group(t, number)); number++)
		finish_group(t, count_group(t->counter, group));
	return NULL;
}

static void release(struct branch_thread *t)
{
	pthread_cond_destroy(&t->less);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int branch_thread_new(struct branch_thread **ret, struct branch_counter *counter, size_t max_rows)
{
	struct branch_thread *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->counter = counter;
	t->max_group = MAX(max_rows, (size_t)BRANCH_THREAD_MIN_ROWS) / N_GROUPS;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	pthread_cond_init(&t->less, NULL);
	r = thread_start(&t->thread, run, t);
	if (r < 0)
		release(t);
	else
		*ret = t;
	return r;
}

struct branch_thread *branch_thread_free(struct branch_thread *thread)
{
	if (!thread)
		return NULL;
	pthread_mutex_lock(&thread->lock);
	thread->ends = true;
	pthread_cond_signal(&thread->more);
	pthread_mutex_unlock(&thread->lock);
	pthread_join(thread->thread, NULL);
	release(thread);
	return NULL;
}

/* Hands over the filled group, if it is not empty, and waits until at most @max groups wait. */
static int hand_over(struct branch_thread *t, unsigned int max)
{
	struct group *group = &t->groups[t->filling];
	bool any = group->n > 0;
	int r;

	group->after.n_rows = t->n_rows;
	pthread_mutex_lock(&t->lock);
	t->n_waiting += any;
	if (any)
		pthread_cond_signal(&t->more);
	while (t->n_waiting > max)
		pthread_cond_wait(&t->less, &t->lock);
	r = t->error;
	pthread_mutex_unlock(&t->lock);
	t->filling = (t->filling + any) % N_GROUPS;
	return r;
}

/* All groups were counted. */
static void note_progress(struct branch_thread *t)
{
	t->seen.n_rows = t->n_rows;
	t->seen.n_counts = t->counter->table.n_counts;
}

/* The group whose place the next one takes has been counted. Later ones may have been, too; that is
 * ignored. */
static int next_to_fill(struct branch_thread *t)
{
	int r = hand_over(t, N_GROUPS - 1);
	struct group *group = &t->groups[t->filling];

	if (group->after.n_rows > t->seen.n_rows)
		t->seen = group->after;
	group->n = group->n_rows = 0;
	return r;
}

int branch_thread_add(struct branch_thread *thread, const struct counted_snapshot *snapshot)
{
	struct group *group = &thread->groups[thread->filling];
	uint64_t n_rows = counted_snapshot_n_rows(snapshot);

	group->snapshots[group->n++] = *snapshot;
	group->n_rows += n_rows;
	thread->n_rows += n_rows;
	if (group->n < GROUP_MAX && group->n_rows + SNAPSHOT_MAX <= thread->max_group)
		return 0;
	return next_to_fill(thread);
}

int branch_thread_wait(struct branch_thread *thread)
{
	int r = hand_over(thread, 0);
	struct group *group = &thread->groups[thread->filling];

	group->n = group->n_rows = 0;
	note_progress(thread);
	return r;
}

int branch_thread_count(struct branch_thread *thread, const struct counted_snapshot *snapshot)
{
	int r = branch_thread_wait(thread);

	if (r >= 0)
		r = branch_counter_add(thread->counter, snapshot);
	thread->n_rows += counted_snapshot_n_rows(snapshot);
	note_progress(thread);
	return r;
}

size_t branch_thread_most_counts(const struct branch_thread *thread)
{
	return thread->seen.n_counts + (size_t)(thread->n_rows - thread->seen.n_rows);
}
