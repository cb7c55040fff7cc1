/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What pruned branches, runs and streams counted goes to one row for each process and object, see
 * other.h. These rows are counted among the user's: they may be half of them, and then the rarest
 * go. A stream is pruned into the newer branches that are kept; only without any it is one of
 * those.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/profile/limit/internal.h"
#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define MAX_PART 2
#define N_COUNTS 7

/* What one row, or all that are pruned of a process and an object, counted. */
struct other {
	uint32_t process, object;
	uint64_t counts[N_COUNTS]; /* in the order of the row's; the first is its weight */
};

_Static_assert(sizeof(struct other) % sizeof(uint32_t) == 0, "other");

/* The pairs of a process and an object in a table, sorted. */
struct others {
	struct other *rows;
	size_t n, cap;
};

static void others_done(struct others *others)
{
	free(others->rows);
}

static int compare_others(const void *p, const void *q)
{
	const struct other *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->process, b->process));
	return COMPARE(a->object, b->object);
}

/* A row of that process and object. Rows of one pair are neighbours, as a rule. */
static int add_pair(struct others *others, uint32_t process, uint32_t object)
{
	const struct other *last = others->n > 0 ? &others->rows[others->n - 1] : NULL;

	if (last && last->process == process && last->object == object)
		return 0;
	if (ARRAY_RESERVE(&others->rows, &others->cap, others->n + 1) < 0)
		return -ENOMEM;
	others->rows[others->n++] = (struct other){ .process = process, .object = object };
	return 0;
}

/*
 * All pairs are there. A user with too many rows keeps as many as leave room for one more of each
 * pair; all others keep theirs.
 */
static void begin(struct limit_work *l, struct others *others)
{
	size_t n = 0;

	if (others->n > 0)
		qsort(others->rows, others->n, sizeof(*others->rows), compare_others);
	for (size_t i = 0; i < others->n; i++)
		if (n == 0 || compare_others(&others->rows[n - 1], &others->rows[i]) != 0)
			others->rows[n++] = others->rows[i];
	others->n = n;
	for (size_t u = 0; u < l->n_users; u++) {
		struct limit_user *user = &l->users[u];

		user->max_rows = user->n_rows > user->limit ? user->limit : UINT64_MAX;
	}
	for (size_t i = 0; i < others->n; i++) {
		struct limit_user *user = limit_user_of(l, others->rows[i].process);

		if (user->max_rows != UINT64_MAX &&
		    user->max_rows > user->limit - user->limit / MAX_PART)
			user->max_rows--;
	}
}

static void give(struct others *others, const struct other *row)
{
	struct other *pair =
		bsearch(row, others->rows, others->n, sizeof(*others->rows), compare_others);

	for (size_t i = 0; i < N_COUNTS; i++)
		pair->counts[i] += row->counts[i];
}

static bool is_empty(const struct other *row)
{
	for (size_t i = 0; i < N_COUNTS; i++)
		if (row->counts[i] > 0)
			return false;
	return true;
}

/* Pairs of which nothing was pruned go; then @add takes those that there is room for, @drop what
 * the others counted. */
static int end(struct limit_work *l, struct others *others,
	       int (*add)(struct profile *p, const struct other *row),
	       void (*drop)(struct profile_counters *c, const struct other *row))
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < others->n; i++)
		if (!is_empty(&others->rows[i]))
			others->rows[n++] = others->rows[i];
	for (size_t i = 0; i < n; i++)
		l->weights[i] = others->rows[i].counts[0];
	for (size_t u = 0; u < l->n_users; u++)
		if (l->users[u].max_rows != UINT64_MAX)
			l->users[u].max_rows = l->users[u].limit / MAX_PART;
	if (n > 0)
		limit_choose(l, LIMIT_PROCESSES(others->rows, n));
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (l->kept[i])
			r = add(l->p, &others->rows[i]);
		else
			drop(&l->p->counters, &others->rows[i]);
	l->pruned = true;
	return r;
}

static struct other of_branch(const struct profile_branch *branch)
{
	return (struct other){ branch->process,
			       branch->from.object,
			       { branch->taken, branch->mispredicted, branch->predicted,
				 branch->aborted, branch->cycles, branch->cycles_rows,
				 branch->variance } };
}

static int add_branch(struct profile *p, const struct other *row)
{
	struct profile_branch branch = other_branch(row->process, row->object);

	branch.taken = row->counts[0];
	branch.mispredicted = row->counts[1];
	branch.predicted = row->counts[2];
	branch.aborted = row->counts[3];
	branch.cycles = row->counts[4];
	branch.cycles_rows = row->counts[5];
	branch.variance = row->counts[6];
	return (int)MIN(profile_add_branch(p, &branch), (int64_t)0);
}

static void drop_branch(struct profile_counters *c, const struct other *row)
{
	c->rows_counted -= row->counts[0];
	c->rows_limit += row->counts[0];
	c->cycles -= row->counts[4];
}

/* Rows that stand for others already are not among those to choose from. */
static int list_branches(struct limit_work *l, struct others *others)
{
	struct profile *p = l->p;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_branches; i++)
		r = add_pair(others, p->branches[i].process, p->branches[i].from.object);
	if (r < 0)
		return r;
	begin(l, others);
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct other row = of_branch(&p->branches[i]);

		if (other_is_branch(&p->branches[i])) {
			give(others, &row);
			continue;
		}
		l->weights[n] = row.counts[0];
		p->branches[n++] = p->branches[i];
	}
	p->n_branches = n;
	return 0;
}

int limit_branches(struct limit_work *l)
{
	_cleanup_(others_done) struct others others = {};
	struct profile *p = l->p;
	size_t n = 0;
	int r = list_branches(l, &others);

	if (r < 0)
		return r;
	if (p->n_branches > 0)
		limit_choose(l, LIMIT_PROCESSES(p->branches, p->n_branches));
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct other row = of_branch(&p->branches[i]);

		if (l->kept[i])
			p->branches[n++] = p->branches[i];
		else
			give(&others, &row);
	}
	p->n_branches = n;
	return end(l, &others, add_branch, drop_branch);
}

static struct other of_block(const struct profile_block *block)
{
	return (struct other){ block->process,
			       block->object,
			       { block->runs, block->cycles, block->cycles_rows,
				 block->variance } };
}

static int add_block(struct profile *p, const struct other *row)
{
	struct profile_block block = other_block(row->process, row->object);

	block.runs = row->counts[0];
	block.cycles = row->counts[1];
	block.cycles_rows = row->counts[2];
	block.variance = row->counts[3];
	return (int)MIN(profile_add_block(p, &block), (int64_t)0);
}

static void drop_block(struct profile_counters *c, const struct other *row)
{
	c->runs_counted -= row->counts[0];
	c->runs_limit += row->counts[0];
}

static int list_blocks(struct limit_work *l, struct others *others)
{
	struct profile *p = l->p;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_blocks; i++)
		r = add_pair(others, p->blocks[i].process, p->blocks[i].object);
	if (r < 0)
		return r;
	begin(l, others);
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct other row = of_block(&p->blocks[i]);

		if (other_is_block(&p->blocks[i])) {
			give(others, &row);
			continue;
		}
		l->weights[n] = row.counts[0];
		p->blocks[n++] = p->blocks[i];
	}
	p->n_blocks = n;
	return 0;
}

int limit_blocks(struct limit_work *l)
{
	_cleanup_(others_done) struct others others = {};
	struct profile *p = l->p;
	size_t n = 0;
	int r = list_blocks(l, &others);

	if (r < 0)
		return r;
	if (p->n_blocks > 0)
		limit_choose(l, LIMIT_PROCESSES(p->blocks, p->n_blocks));
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct other row = of_block(&p->blocks[i]);

		if (l->kept[i])
			p->blocks[n++] = p->blocks[i];
		else
			give(&others, &row);
	}
	p->n_blocks = n;
	return end(l, &others, add_block, drop_block);
}

static int add_stream(struct profile *p, const struct other *row)
{
	struct profile_stream stream = other_stream(row->process, row->object);

	stream.hits = row->counts[0];
	stream.pruned = row->counts[1];
	stream.cycles = row->counts[2];
	stream.variance = row->counts[3];
	return (int)MIN(profile_add_stream(p, &stream), (int64_t)0);
}

static void drop_stream(struct profile_counters *c, const struct other *row)
{
	c->streams -= row->counts[0];
	c->streams_pruned -= row->counts[1];
	c->streams_limit += row->counts[0];
}

/* Rows that stand for others already are none to keep, and take nobody's place. */
static void weigh_streams(struct limit_work *l)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->n_streams; i++)
		l->weights[i] = other_is_stream(&p->streams[i]) ? 0 : p->streams[i].hits;
	for (size_t i = p->n_streams; i-- > 0;)
		if (p->streams[i].parent != PROFILE_NONE)
			l->weights[p->streams[i].parent] += l->weights[i];
}

/* *@ret: by node, the object of its newest branch. */
static int list_streams(struct limit_work *l, struct others *others, uint32_t **ret)
{
	const struct profile *p = l->p;
	uint32_t *objects;
	int r = 0;

	if (ARRAY_ALLOCATE(&objects, p->n_streams) < 0)
		return -ENOMEM;
	*ret = objects;
	for (size_t i = 0; r >= 0 && i < p->n_streams; i++) {
		const struct profile_stream *stream = &p->streams[i];

		objects[i] = stream->parent == PROFILE_NONE ? stream->from.object :
							      objects[stream->parent];
		if (stream->parent == PROFILE_NONE)
			r = add_pair(others, stream->process, objects[i]);
	}
	if (r < 0)
		return r;
	begin(l, others);
	weigh_streams(l);
	return 0;
}

/* Stream @i is not kept; @parent is where its newer part is now. */
static void prune_stream(struct limit_work *l, struct others *others, size_t i, uint32_t parent,
			 uint32_t object)
{
	const struct profile_stream *stream = &l->p->streams[i];
	bool is_root = stream->parent == PROFILE_NONE;
	struct other row = { stream->process,
			     object,
			     { stream->hits, stream->hits, is_root ? stream->cycles : 0,
			       stream->variance } };

	l->p->counters.streams_pruned += stream->hits - stream->pruned;
	if (parent == PROFILE_NONE) {
		give(others, &row);
		return;
	}
	l->p->streams[parent].hits += row.counts[0];
	l->p->streams[parent].pruned += row.counts[1];
	l->p->streams[parent].variance += row.counts[3];
}

int limit_streams(struct limit_work *l)
{
	_cleanup_(others_done) struct others others = {};
	_cleanup_free_ uint32_t *objects = NULL;
	struct profile *p = l->p;
	uint64_t error = 0;
	size_t n = 0;
	int r = list_streams(l, &others, &objects);

	if (r < 0)
		return r;
	limit_choose(l, LIMIT_PROCESSES(p->streams, p->n_streams));
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream stream = p->streams[i];

		if (stream.parent != PROFILE_NONE)
			stream.parent = l->map[stream.parent];
		if (l->kept[i] && !other_is_stream(&stream)) {
			p->streams[n] = stream;
			l->map[i] = (uint32_t)n++;
			continue;
		}
		prune_stream(l, &others, i, stream.parent, objects[i]);
		error = MAX(error, l->weights[i]);
		l->map[i] = stream.parent;
	}
	p->n_streams = n;
	p->counters.streams_error += error;
	return end(l, &others, add_stream, drop_stream);
}
