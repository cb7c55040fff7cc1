/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A node of a tree weighs what it and all nodes below it counted. The heaviest nodes are kept; of
 * equal ones the first. So no node is kept without its parent, which weighs as much and comes
 * first.
 */
#include "common/profile/limit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct user {
	uint32_t uid;
	uint64_t max_rows, n_rows; /* of the table in work */
};

struct ranked {
	uint32_t user;
	size_t row;
	uint64_t weight;
};

struct limiting {
	struct profile *p;
	struct user *users; /* sorted; the last is the unknown one */
	size_t n_users;
	uint32_t *user_of; /* by process; behind them, that of no process */
	uint64_t *weights; /* of the table in work */
	bool *kept;
	uint32_t *map; /* of a tree: where a node is now, or its nearest ancestor; or none */
	struct ranked *ranked;
	struct profile_stack *rest; /* by process, as user_of: stacks pruned down to the root */
	bool pruned;
};

static void limiting_done(struct limiting *l)
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
	const struct user *a = p, *b = q;

	return COMPARE(a->uid, b->uid);
}

static int compare_ranked(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->user, b->user));
	RETURN_UNLESS_EQUAL(COMPARE(b->weight, a->weight));
	return COMPARE(a->row, b->row);
}

static void list_users(struct limiting *l)
{
	const struct profile *p = l->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_processes; i++)
		l->users[i] = (struct user){ .uid = p->processes[i].uid };
	l->users[p->n_processes] = (struct user){ .uid = UINT32_MAX };
	qsort(l->users, p->n_processes + 1, sizeof(*l->users), compare_users);
	for (size_t i = 0; i <= p->n_processes; i++)
		if (n == 0 || l->users[n - 1].uid != l->users[i].uid)
			l->users[n++] = l->users[i];
	l->n_users = n;
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct user key = { .uid = p->processes[i].uid };
		const struct user *user =
			bsearch(&key, l->users, n, sizeof(*l->users), compare_users);

		l->user_of[i] = (uint32_t)(user - l->users);
	}
	l->user_of[p->n_processes] = (uint32_t)n - 1;
}

static int limiting_init(struct limiting *l)
{
	const struct profile *p = l->p;
	size_t n_rows = MAX(p->n_stacks, p->n_streams);

	n_rows = MAX(n_rows, p->n_branches);
	n_rows = MAX(n_rows, p->n_blocks);
	if (ARRAY_ALLOCATE(&l->users, p->n_processes + 1) < 0 ||
	    ARRAY_ALLOCATE(&l->user_of, p->n_processes + 1) < 0 ||
	    ARRAY_ALLOCATE(&l->weights, n_rows) < 0 || ARRAY_ALLOCATE(&l->kept, n_rows) < 0 ||
	    ARRAY_ALLOCATE(&l->map, n_rows) < 0 || ARRAY_ALLOCATE(&l->ranked, n_rows) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&l->rest, p->n_processes + 1) < 0)
		return -ENOMEM;
	list_users(l);
	return 0;
}

static uint32_t slot_of(const struct limiting *l, uint32_t process)
{
	return process == PROFILE_NONE ? (uint32_t)l->p->n_processes : process;
}

static struct user *user_of(const struct limiting *l, uint32_t process)
{
	return &l->users[l->user_of[slot_of(l, process)]];
}

/* Chooses which of @n rows are kept, by their weights. @size bytes from one to the next, each
 * begins with its process. False: all are. */
static bool choose(struct limiting *l, const uint32_t *processes, size_t n, size_t size)
{
	size_t n_ranked = 0;
	bool over = false;
	uint64_t n_kept = 0;

	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		struct user *user = user_of(l, processes[i * size]);

		l->kept[i] = true;
		over |= ++user->n_rows > user->max_rows;
	}
	for (size_t i = 0; over && i < n; i++) {
		const struct user *user = user_of(l, processes[i * size]);

		if (user->n_rows > user->max_rows)
			l->ranked[n_ranked++] =
				(struct ranked){ (uint32_t)(user - l->users), i, l->weights[i] };
	}
	qsort(l->ranked, n_ranked, sizeof(*l->ranked), compare_ranked);
	for (size_t i = 0; i < n_ranked; i++) {
		n_kept = i > 0 && l->ranked[i - 1].user == l->ranked[i].user ? n_kept + 1 : 1;
		l->kept[l->ranked[i].row] = n_kept <= l->users[l->ranked[i].user].max_rows;
	}
	l->pruned |= over;
	return over;
}

/* The processes of a table's rows, for choose(). */
#define PROCESSES(rows, n) &(rows)->process, n, sizeof(*(rows)) / sizeof((rows)->process)

/* What choose() is told of the sizes of rows. */
_Static_assert(sizeof(struct profile_stack) % sizeof(uint32_t) == 0, "stack");
_Static_assert(sizeof(struct profile_stream) % sizeof(uint32_t) == 0, "stream");
_Static_assert(sizeof(struct profile_branch) % sizeof(uint32_t) == 0, "branch");
_Static_assert(sizeof(struct profile_block) % sizeof(uint32_t) == 0, "block");

static void add_stack(struct profile_stack *to, const struct profile_stack *stack)
{
	to->samples += stack->samples;
	to->stitched += stack->stitched;
	to->weight += stack->weight;
	to->pruned += stack->samples;
}

/* The samples at the address 0 of their process. */
static int add_rest(struct limiting *l)
{
	for (size_t i = 0; i <= l->p->n_processes; i++) {
		struct profile_stack *rest = &l->rest[i];

		rest->parent = PROFILE_NONE;
		rest->process = i == l->p->n_processes ? PROFILE_NONE : (uint32_t)i;
		rest->frame = (struct location){ PROFILE_NONE, 0 };
		if ((rest->samples || rest->stitched || rest->weight) &&
		    profile_add_stack(l->p, rest) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void weigh_stacks(struct limiting *l)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->n_stacks; i++)
		l->weights[i] = p->stacks[i].samples;
	for (size_t i = p->n_stacks; i-- > 0;)
		if (p->stacks[i].parent != PROFILE_NONE)
			l->weights[p->stacks[i].parent] += l->weights[i];
}

static int limit_stacks(struct limiting *l)
{
	struct profile *p = l->p;
	uint64_t error = 0;
	size_t n = 0;

	weigh_stacks(l);
	if (p->n_stacks == 0 || !choose(l, PROCESSES(p->stacks, p->n_stacks)))
		return 0;
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack stack = p->stacks[i];

		if (stack.parent != PROFILE_NONE)
			stack.parent = l->map[stack.parent];
		if (l->kept[i]) {
			p->stacks[n] = stack;
			l->map[i] = (uint32_t)n++;
			continue;
		}
		add_stack(stack.parent == PROFILE_NONE ? &l->rest[slot_of(l, stack.process)] :
							 &p->stacks[stack.parent],
			  &stack);
		l->map[i] = stack.parent;
		p->counters.stacks_pruned += stack.samples - stack.pruned;
		error = MAX(error, l->weights[i]);
	}
	p->n_stacks = n;
	p->counters.stacks_error += error;
	return add_rest(l);
}

static void weigh_streams(struct limiting *l)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->n_streams; i++)
		l->weights[i] = p->streams[i].hits;
	for (size_t i = p->n_streams; i-- > 0;)
		if (p->streams[i].parent != PROFILE_NONE)
			l->weights[p->streams[i].parent] += l->weights[i];
}

static void prune_stream(struct limiting *l, const struct profile_stream *stream)
{
	struct profile_counters *c = &l->p->counters;

	if (stream->parent == PROFILE_NONE) {
		c->streams -= stream->hits;
		c->streams_pruned -= stream->pruned;
		c->streams_limit += stream->hits;
		return;
	}
	l->p->streams[stream->parent].hits += stream->hits;
	l->p->streams[stream->parent].pruned += stream->hits;
	c->streams_pruned += stream->hits - stream->pruned;
}

static void limit_streams(struct limiting *l)
{
	struct profile *p = l->p;
	uint64_t error = 0;
	size_t n = 0;

	weigh_streams(l);
	if (p->n_streams == 0 || !choose(l, PROCESSES(p->streams, p->n_streams)))
		return;
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream stream = p->streams[i];

		if (stream.parent != PROFILE_NONE)
			stream.parent = l->map[stream.parent];
		if (l->kept[i]) {
			p->streams[n] = stream;
			l->map[i] = (uint32_t)n++;
			continue;
		}
		prune_stream(l, &stream);
		l->map[i] = stream.parent;
		error = MAX(error, l->weights[i]);
	}
	p->n_streams = n;
	p->counters.streams_error += error;
}

static void limit_branches(struct limiting *l)
{
	struct profile *p = l->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_branches; i++)
		l->weights[i] = p->branches[i].taken;
	if (p->n_branches == 0 || !choose(l, PROCESSES(p->branches, p->n_branches)))
		return;
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *branch = &p->branches[i];

		if (l->kept[i]) {
			p->branches[n++] = *branch;
			continue;
		}
		p->counters.rows_counted -= branch->taken;
		p->counters.rows_limit += branch->taken;
		p->counters.cycles -= branch->cycles;
	}
	p->n_branches = n;
}

static void limit_blocks(struct limiting *l)
{
	struct profile *p = l->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_blocks; i++)
		l->weights[i] = p->blocks[i].runs;
	if (p->n_blocks == 0 || !choose(l, PROCESSES(p->blocks, p->n_blocks)))
		return;
	for (size_t i = 0; i < p->n_blocks; i++) {
		if (l->kept[i]) {
			p->blocks[n++] = p->blocks[i];
			continue;
		}
		p->counters.runs_counted -= p->blocks[i].runs;
		p->counters.runs_limit += p->blocks[i].runs;
	}
	p->n_blocks = n;
}

int profile_limit(struct profile *profile, profile_limit_handler handler, void *userdata)
{
	_cleanup_(limiting_done) struct limiting l = { .p = profile };
	int r;

	r = limiting_init(&l);
	if (r < 0)
		return r;
	for (size_t u = 0; u < l.n_users; u++)
		l.users[u].max_rows = handler(l.users[u].uid, userdata);
	r = limit_stacks(&l);
	limit_streams(&l);
	limit_branches(&l);
	limit_blocks(&l);
	if (l.pruned)
		profile->finalized = false;
	return r < 0 ? r : l.pruned;
}
