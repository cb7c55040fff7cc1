/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A node of a tree weighs what it and all nodes below it counted. The heaviest nodes are kept; of
 * equal ones the first. So no node is kept without its parent, which weighs as much and comes
 * first.
 */
#include "common/profile/limit/limit.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/limit/internal.h"
#include "common/profile/tables.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct limit_ranked {
	uint32_t user;
	size_t row;
	uint64_t weight;
};

static void work_done(struct limit_work *l)
{
	free(l->users);
	free(l->user_of);
	free(l->weights);
	free(l->kept);
	free(l->map);
	free(l->ranked);
	free(l->rest);
}

static int compare_users(const void *p, const void *q)
{
	const struct limit_user *a = p, *b = q;

	return COMPARE(a->uid, b->uid);
}

static int compare_ranked(const void *p, const void *q)
{
	const struct limit_ranked *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->user, b->user));
	RETURN_UNLESS_EQUAL(COMPARE(b->weight, a->weight));
	return COMPARE(a->row, b->row);
}

static void list_users(struct limit_work *l)
{
	const struct profile *p = l->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_processes; i++)
		l->users[i] = (struct limit_user){ .uid = p->processes[i].uid };
	l->users[p->n_processes] = (struct limit_user){ .uid = UINT32_MAX };
	qsort(l->users, p->n_processes + 1, sizeof(*l->users), compare_users);
	for (size_t i = 0; i <= p->n_processes; i++)
		if (n == 0 || l->users[n - 1].uid != l->users[i].uid)
			l->users[n++] = l->users[i];
	l->n_users = n;
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct limit_user key = { .uid = p->processes[i].uid };
		const struct limit_user *user =
			bsearch(&key, l->users, n, sizeof(*l->users), compare_users);

		l->user_of[i] = (uint32_t)(user - l->users);
	}
	l->user_of[p->n_processes] = (uint32_t)n - 1;
}

static int work_init(struct limit_work *l)
{
	const struct profile *p = l->p;

	if (ARRAY_ALLOCATE(&l->users, p->n_processes + 1) < 0 ||
	    ARRAY_ALLOCATE(&l->user_of, p->n_processes + 1) < 0)
		return -ENOMEM;
	list_users(l);
	return 0;
}

/* What choosing among the rows of any table needs. */
static int make_room(struct limit_work *l)
{
	const struct profile *p = l->p;
	size_t n_rows = MAX(p->n_stacks, p->n_streams);

	n_rows = MAX(n_rows, p->n_branches);
	n_rows = MAX(n_rows, p->n_blocks);
	if (ARRAY_ALLOCATE(&l->weights, n_rows) < 0 || ARRAY_ALLOCATE(&l->kept, n_rows) < 0 ||
	    ARRAY_ALLOCATE(&l->map, n_rows) < 0 || ARRAY_ALLOCATE(&l->ranked, n_rows) < 0)
		return -ENOMEM;
	return 0;
}

struct limit_user *limit_user_of(const struct limit_work *l, uint32_t process)
{
	return &l->users[l->user_of[process == PROFILE_NONE ? l->p->n_processes : process]];
}

bool limit_has_too_many(struct limit_work *l, const uint32_t *processes, size_t n, size_t size)
{
	bool over = false;

	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		struct limit_user *user = limit_user_of(l, processes[i * size]);

		over |= ++user->n_rows > user->max_rows;
	}
	return over;
}

bool limit_choose(struct limit_work *l, const uint32_t *processes, size_t n, size_t size)
{
	bool over = limit_has_too_many(l, processes, n, size);
	size_t n_ranked = 0;
	uint64_t n_kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct limit_user *user = limit_user_of(l, processes[i * size]);

		l->kept[i] = true;
		if (user->n_rows > user->max_rows)
			l->ranked[n_ranked++] = (struct limit_ranked){ (uint32_t)(user - l->users),
								       i, l->weights[i] };
	}
	if (n_ranked > 0)
		qsort(l->ranked, n_ranked, sizeof(*l->ranked), compare_ranked);
	for (size_t i = 0; i < n_ranked; i++) {
		n_kept = i > 0 && l->ranked[i - 1].user == l->ranked[i].user ? n_kept + 1 : 1;
		l->kept[l->ranked[i].row] = n_kept <= l->users[l->ranked[i].user].max_rows;
	}
	l->pruned |= over;
	return over;
}

/* What limit_choose() is told of the sizes of rows. */
_Static_assert(sizeof(struct profile_stack) % sizeof(uint32_t) == 0, "stack");
_Static_assert(sizeof(struct profile_stream) % sizeof(uint32_t) == 0, "stream");
_Static_assert(sizeof(struct profile_branch) % sizeof(uint32_t) == 0, "branch");
_Static_assert(sizeof(struct profile_block) % sizeof(uint32_t) == 0, "block");

static size_t table_of(const struct profile *p, enum profile_table table,
		       const uint32_t **ret_processes, size_t *ret_size)
{
	switch (table) {
	case PROFILE_STACKS:
		*ret_processes = p->n_stacks > 0 ? &p->stacks->process : NULL;
		*ret_size = sizeof(*p->stacks) / sizeof(uint32_t);
		return p->n_stacks;
	case PROFILE_STREAMS:
		*ret_processes = p->n_streams > 0 ? &p->streams->process : NULL;
		*ret_size = sizeof(*p->streams) / sizeof(uint32_t);
		return p->n_streams;
	case PROFILE_BRANCHES:
		*ret_processes = p->n_branches > 0 ? &p->branches->process : NULL;
		*ret_size = sizeof(*p->branches) / sizeof(uint32_t);
		return p->n_branches;
	default:
		*ret_processes = p->n_blocks > 0 ? &p->blocks->process : NULL;
		*ret_size = sizeof(*p->blocks) / sizeof(uint32_t);
		return p->n_blocks;
	}
}

static bool is_too_long(struct limit_work *l, enum profile_table table)
{
	const uint32_t *processes;
	size_t size, n = table_of(l->p, table, &processes, &size);

	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].max_rows = l->users[u].limit;
	return n > 0 && limit_has_too_many(l, processes, n, size);
}

static int limit_table(struct limit_work *l, enum profile_table table)
{
	static int (*const limit[N_PROFILE_TABLES])(struct limit_work * l) = {
		[PROFILE_STACKS] = limit_stacks,
		[PROFILE_STREAMS] = limit_streams,
		[PROFILE_BRANCHES] = limit_branches,
		[PROFILE_BLOCKS] = limit_blocks,
	};
	int r;

	if (!is_too_long(l, table))
		return 0;
	r = l->ranked ? 0 : make_room(l);
	return r < 0 ? r : limit[table](l);
}

int profile_limit_tables(struct profile *profile, unsigned int tables,
			 profile_limit_handler handler, void *userdata)
{
	_cleanup_(work_done) struct limit_work l = { .p = profile };
	int r;

	r = work_init(&l);
	if (r < 0)
		return r;
	for (size_t u = 0; u < l.n_users; u++)
		l.users[u].limit = handler(l.users[u].uid, userdata);
	for (unsigned int i = 0; r >= 0 && i < N_PROFILE_TABLES; i++)
		if (tables & PROFILE_TABLE(i))
			r = limit_table(&l, (enum profile_table)i);
	if (l.pruned)
		profile->finalized = false;
	return r < 0 ? r : l.pruned;
}

int profile_limit(struct profile *profile, profile_limit_handler handler, void *userdata)
{
	return profile_limit_tables(profile, PROFILE_ALL_TABLES, handler, userdata);
}
