/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A node of a tree weighs what it and all nodes below it counted. The heaviest nodes are kept; of
 * equal ones the first. So no node is kept without its parent, which weighs as much and comes
 * first.
 *
 * Samples of pruned stacks keep their function: they are counted below the nearest caller that is
 * kept, once for each function; where these rows are too many, the rarest of them without callers;
 * and where these are, too, at the address 0. So callers that are kept have all of their samples.
 */
#include "common/profile/limit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A user may have an eighth of his stacks for pruned ones below a caller, and one for those without
 * callers. */
#define SPARE 8

struct user {
	uint32_t uid;
	uint64_t limit;            /* as the caller said */
	uint64_t max_rows, n_rows; /* of the rows in work */
};

/* Samples of a pruned stack. */
struct rest {
	struct profile_stack stack; /* its parent is in the new order */
	uint32_t function;          /* or PROFILE_NONE */
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
	struct rest *rest;
	size_t n_rest;
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

	if (ARRAY_ALLOCATE(&l->users, p->n_processes + 1) < 0 ||
	    ARRAY_ALLOCATE(&l->user_of, p->n_processes + 1) < 0)
		return -ENOMEM;
	list_users(l);
	return 0;
}

/* What choosing among the rows of any table needs. */
static int make_room(struct limiting *l)
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

static struct user *user_of(const struct limiting *l, uint32_t process)
{
	return &l->users[l->user_of[process == PROFILE_NONE ? l->p->n_processes : process]];
}

/*
 * Counts how many of @n rows each user has. Each row begins with its process; from one to the next
 * are @size numbers. Whether anybody has more than he may.
 */
static bool has_too_many(struct limiting *l, const uint32_t *processes, size_t n, size_t size)
{
	bool over = false;

	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].n_rows = 0;
	for (size_t i = 0; i < n; i++) {
		struct user *user = user_of(l, processes[i * size]);

		over |= ++user->n_rows > user->max_rows;
	}
	return over;
}

/* Chooses which rows are kept, by their weights. False: all are. */
static bool choose(struct limiting *l, const uint32_t *processes, size_t n, size_t size)
{
	bool over = has_too_many(l, processes, n, size);
	size_t n_ranked = 0;
	uint64_t n_kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct user *user = user_of(l, processes[i * size]);

		l->kept[i] = true;
		if (user->n_rows > user->max_rows)
			l->ranked[n_ranked++] =
				(struct ranked){ (uint32_t)(user - l->users), i, l->weights[i] };
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

/* The processes of a table's rows, for choose(). */
#define PROCESSES(rows, n) &(rows)->process, n, sizeof(*(rows)) / sizeof((rows)->process)

/* What choose() is told of the sizes of rows. */
_Static_assert(sizeof(struct profile_stack) % sizeof(uint32_t) == 0, "stack");
_Static_assert(sizeof(struct profile_stream) % sizeof(uint32_t) == 0, "stream");
_Static_assert(sizeof(struct profile_branch) % sizeof(uint32_t) == 0, "branch");
_Static_assert(sizeof(struct profile_block) % sizeof(uint32_t) == 0, "block");

enum rest_level {
	BELOW_CALLER, /* the nearest one that is kept */
	WITHOUT_CALLERS,
	AT_ADDRESS_0,
	N_REST_LEVELS,
};

static int compare_rest(const void *p, const void *q)
{
	const struct rest *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->stack.process, b->stack.process));
	RETURN_UNLESS_EQUAL(COMPARE(a->stack.parent, b->stack.parent));
	RETURN_UNLESS_EQUAL(COMPARE(a->stack.frame.object, b->stack.frame.object));
	RETURN_UNLESS_EQUAL(COMPARE(a->function, b->function));
	RETURN_UNLESS_EQUAL(COMPARE(b->stack.samples, a->stack.samples));
	return COMPARE(a->stack.frame.offset, b->stack.frame.offset);
}

static bool is_same_function(const struct rest *a, const struct rest *b)
{
	return a->stack.process == b->stack.process && a->stack.parent == b->stack.parent &&
	       a->stack.frame.object == b->stack.frame.object && a->function == b->function;
}

/* One row for each function, with its most frequent address. */
static void unite_rest(struct limiting *l)
{
	size_t n = 0;

	if (l->n_rest > 0)
		qsort(l->rest, l->n_rest, sizeof(*l->rest), compare_rest);
	for (size_t i = 0; i < l->n_rest; i++) {
		const struct rest *row = &l->rest[i];

		if (n == 0 || !is_same_function(&l->rest[n - 1], row)) {
			l->rest[n++] = *row;
			continue;
		}
		l->rest[n - 1].stack.samples += row->stack.samples;
		l->rest[n - 1].stack.stitched += row->stack.stitched;
		l->rest[n - 1].stack.weight += row->stack.weight;
		l->rest[n - 1].stack.pruned += row->stack.pruned;
	}
	l->n_rest = n;
}

static void move_rest(struct limiting *l, enum rest_level level)
{
	for (size_t i = 0; i < l->n_rest; i++) {
		struct rest *row = &l->rest[i];

		if (level >= WITHOUT_CALLERS)
			row->stack.parent = PROFILE_NONE;
		if (level < AT_ADDRESS_0)
			continue;
		row->stack.frame = (struct location){ PROFILE_NONE, 0 };
		row->function = PROFILE_NONE;
	}
}

/* Adds as many rows as there may be on this level; the others are left. */
static int add_rest(struct limiting *l, enum rest_level level)
{
	size_t n = 0;

	move_rest(l, level);
	unite_rest(l);
	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].max_rows =
			level == AT_ADDRESS_0 ? UINT64_MAX : l->users[u].limit / SPARE;
	for (size_t i = 0; i < l->n_rest; i++)
		l->weights[i] = l->rest[i].stack.samples;
	if (l->n_rest > 0)
		choose(l, &l->rest->stack.process, l->n_rest, sizeof(*l->rest) / sizeof(uint32_t));
	for (size_t i = 0; i < l->n_rest; i++) {
		if (!l->kept[i])
			l->rest[n++] = l->rest[i];
		else if (profile_add_stack(l->p, &l->rest[i].stack) < 0)
			return -ENOMEM;
	}
	l->n_rest = n;
	return 0;
}

/* Those without samples are callers, of others that are pruned, too. */
static void note_rest(struct limiting *l, const struct profile_stack *stack)
{
	const struct profile_function *function;
	struct rest *row = &l->rest[l->n_rest];

	if (!stack->samples && !stack->stitched && !stack->weight)
		return;
	function = profile_find_function(l->p, stack->frame);
	*row = (struct rest){ .stack = *stack };
	row->function = function ? (uint32_t)(function - l->p->functions) : PROFILE_NONE;
	row->stack.pruned = stack->samples;
	l->n_rest++;
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
	int r = 0;

	weigh_stacks(l);
	if (p->n_stacks == 0 || !has_too_many(l, PROCESSES(p->stacks, p->n_stacks)))
		return 0;
	for (size_t u = 0; u < l->n_users; u++)
		if (l->users[u].n_rows > l->users[u].limit)
			l->users[u].max_rows -= l->users[u].limit / SPARE * 2;
	choose(l, PROCESSES(p->stacks, p->n_stacks));
	if (ARRAY_ALLOCATE(&l->rest, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack stack = p->stacks[i];

		if (stack.parent != PROFILE_NONE)
			stack.parent = l->map[stack.parent];
		if (l->kept[i]) {
			p->stacks[n] = stack;
			l->map[i] = (uint32_t)n++;
			continue;
		}
		note_rest(l, &stack);
		l->map[i] = stack.parent;
		p->counters.stacks_pruned += stack.samples - stack.pruned;
		error = MAX(error, l->weights[i]);
	}
	p->n_stacks = n;
	p->counters.stacks_error += error;
	for (enum rest_level level = BELOW_CALLER; r >= 0 && level < N_REST_LEVELS; level++)
		r = add_rest(l, level);
	return r;
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

/* Most profiles have no such table. */
static bool any_has_too_many(struct limiting *l)
{
	const struct profile *p = l->p;

	return (p->n_stacks > 0 && has_too_many(l, PROCESSES(p->stacks, p->n_stacks))) ||
	       (p->n_streams > 0 && has_too_many(l, PROCESSES(p->streams, p->n_streams))) ||
	       (p->n_branches > 0 && has_too_many(l, PROCESSES(p->branches, p->n_branches))) ||
	       (p->n_blocks > 0 && has_too_many(l, PROCESSES(p->blocks, p->n_blocks)));
}

int profile_limit(struct profile *profile, profile_limit_handler handler, void *userdata)
{
	_cleanup_(limiting_done) struct limiting l = { .p = profile };
	int r;

	r = limiting_init(&l);
	if (r < 0)
		return r;
	for (size_t u = 0; u < l.n_users; u++)
		l.users[u].limit = l.users[u].max_rows = handler(l.users[u].uid, userdata);
	if (!any_has_too_many(&l))
		return 0;
	r = make_room(&l);
	if (r < 0)
		return r;
	r = limit_stacks(&l);
	for (size_t u = 0; u < l.n_users; u++)
		l.users[u].max_rows = l.users[u].limit;
	limit_streams(&l);
	limit_branches(&l);
	limit_blocks(&l);
	if (l.pruned)
		profile->finalized = false;
	return r < 0 ? r : l.pruned;
}
