/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each row of a long table makes a count, which is added to the last one of its function if that is
 * of the same process, as it is in tables that are sorted by process. Now and then the counts are
 * sorted and equal ones added.
 */
#include "common/profile/function-counts.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/profile/other.h"
#include "common/profile/radix.h"
#include "common/profile/stack-walk.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define ROWS_BEFORE_MERGE ((size_t)4096)

/* Of a place of stacks: what its frames are counted as. */
struct counted {
	uint32_t function; /* see profile_place_frame() */
	uint32_t slot;     /* see function_counts_slot() */
	uint32_t moved;    /* 0, or 1: to the next byte */
};

/* A table that is being counted. */
struct counting {
	struct function_counts *counts;
	const struct profile *p;
	bool by_object;
	size_t cap;
	struct counted *places;
	uint32_t *active; /* of functions, then objects: occurrences on the current path */
	size_t *last;     /* of the same: the last count, unless that was moved since */
	bool failed;      /* memory ran out */
};

static void counting_done(struct counting *c)
{
	free(c->places);
	free(c->active);
	free(c->last);
}

static uint32_t function_at(const struct profile *p, struct location at)
{
	const struct profile_function *function = profile_find_function(p, at);

	return function ? (uint32_t)(function - p->functions) : PROFILE_NONE;
}

/* Whether both are of one process and function; without a function, of one object. */
static bool is_same(const struct function_count *a, const struct function_count *b)
{
	return a->process == b->process && a->function == b->function &&
	       (a->function != PROFILE_NONE || a->at.object == b->at.object);
}

/* The lowest location represents all of a function. */
static void join(struct function_count *to, const struct function_count *row)
{
	to->at.offset = MIN(to->at.offset, row->at.offset);
	function_tally_add(&to->tally, &row->tally);
}

/*
 * Moves each row to where it belongs: the one at keys[i].index to @i. Each cycle of rows that
 * change places is passed through once.
 */
static void move_rows(struct function_count *rows, struct radix_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct function_count first = rows[i];
		size_t at = i;

		if (keys[i].index == i)
			continue;
		while (keys[at].index != i) {
			size_t from = keys[at].index;

			rows[at] = rows[from];
			keys[at].index = (uint32_t)at;
			at = from;
		}
		rows[at] = first;
		keys[at].index = (uint32_t)at;
	}
}

/* By process and function; without a function, by object. 0 or -ENOMEM. */
static int sort_rows(struct function_counts *counts)
{
	_cleanup_free_ struct radix_key *keys = NULL;
	size_t n = counts->n_rows;

	if (ARRAY_ALLOCATE(&keys, 2 * n + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct function_count *row = &counts->rows[i];
		bool has_none = row->function == PROFILE_NONE;

		keys[i] = (struct radix_key){
			{ row->process, row->function, has_none ? row->at.object : 0 },
			(uint32_t)i,
		};
	}
	radix_sort(keys, keys + n, n);
	move_rows(counts->rows, keys, n);
	return 0;
}

static int add_up(struct function_counts *counts)
{
	size_t n = 0;

	if (sort_rows(counts) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < counts->n_rows; i++) {
		const struct function_count *row = &counts->rows[i];

		if (n > 0 && is_same(&counts->rows[n - 1], row))
			join(&counts->rows[n - 1], row);
		else
			counts->rows[n++] = *row;
	}
	counts->n_rows = n;
	return 0;
}

/* Many rows are of few functions: the table grows only if adding up equal keys frees too little. */
static int make_room(struct counting *c)
{
	struct function_counts *counts = c->counts;

	if (counts->n_rows < c->cap)
		return 0;
	if (add_up(counts) < 0)
		return -ENOMEM;
	if (counts->n_rows < c->cap / 2)
		return 0;
	return ARRAY_RESERVE(&counts->rows, &c->cap, MAX(2 * c->cap, ROWS_BEFORE_MERGE));
}

static void add(struct counting *c, uint32_t process, uint32_t function, struct location at,
		const struct function_tally *tally)
{
	const struct function_count row = { process, function, at, *tally };
	struct function_counts *counts = c->counts;
	size_t *last = &c->last[function_counts_slot(counts, function, at.object)];

	if (*last < counts->n_rows && is_same(&counts->rows[*last], &row)) {
		join(&counts->rows[*last], &row);
		return;
	}
	if (make_room(c) < 0) {
		c->failed = true;
		counts->n_rows = 0;
		return;
	}
	*last = counts->n_rows;
	counts->rows[counts->n_rows++] = row;
}

/* By function, by object, or both. */
struct tables {
	struct counting *first;
	size_t n;
};

static void enter_table(struct counting *c, const struct stack_walk *walk, uint32_t node)
{
	const struct profile_stack *stack = &c->p->stacks[node];
	const struct counted *place = &c->places[c->p->stack_places[node]];
	struct function_tally tally = { .self = stack->samples };
	struct location at = stack->frame;

	at.offset += place->moved;
	tally.variance = -stack->variance; /* modulo 2^64; that of the total is in another row */
	if (c->active[place->slot]++ == 0) {
		tally.total = walk->below[node].samples;
		tally.variance += walk->below[node].variance;
	}
	if (tally.self > 0 || tally.total > 0)
		add(c, stack->process, place->function, at, &tally);
}

static void enter(const struct stack_walk *walk, uint32_t node, void *userdata)
{
	const struct tables *tables = userdata;

	for (size_t i = 0; i < tables->n; i++)
		enter_table(&tables->first[i], walk, node);
}

static void leave(const struct stack_walk *walk, uint32_t node, void *userdata)
{
	const struct tables *tables = userdata;
	uint32_t place = walk->profile->stack_places[node];

	for (size_t i = 0; i < tables->n; i++)
		tables->first[i].active[tables->first[i].places[place].slot]--;
}

static struct counted find_counted(const struct counting *c, const struct profile_place *place)
{
	struct counted counted = { .function = c->by_object ? PROFILE_NONE : place->function };
	struct location at = { place->object, place->offset }, moved;

	if (counted.function == PROFILE_NONE && !c->by_object) {
		moved = profile_place_frame(c->p, at);
		counted.moved = moved.offset != at.offset;
		if (counted.moved)
			counted.function = function_at(c->p, moved);
	}
	counted.slot = (uint32_t)function_counts_slot(c->counts, counted.function, place->object);
	return counted;
}

static int count_stacks(struct tables *tables, const struct profile *profile)
{
	_cleanup_(stack_walk_done) struct stack_walk walk;
	int r = stack_walk_init(&walk, profile);

	if (r < 0)
		return r;
	stack_walk_run(&walk, enter, leave, tables);
	return 0;
}

static void count_branches(struct counting *c)
{
	for (size_t i = 0; i < c->p->n_branches; i++) {
		const struct profile_branch *branch = &c->p->branches[i];
		const struct profile_function *to = profile_find_function(c->p, branch->to);
		struct function_tally tally = { .calls = branch->taken };

		if (to && to->start == branch->to.offset &&
		    to != profile_find_function(c->p, branch->from))
			add(c, branch->process, (uint32_t)(to - c->p->functions), branch->to,
			    &tally);
	}
}

static void count_blocks(struct counting *c)
{
	for (size_t i = 0; i < c->p->n_blocks; i++) {
		const struct profile_block *block = &c->p->blocks[i];
		struct location start = { block->object, block->start };
		uint32_t function = function_at(c->p, start);
		struct function_tally tally = {
			.runs = block->runs,
			.cycles = block->cycles,
			.timed_runs = block->cycles_rows,
		};

		if (function != PROFILE_NONE && !other_is_block(block))
			add(c, block->process, function, start, &tally);
	}
}

static struct process_tally *tally_of(const struct counting *c, uint32_t process)
{
	return &c->counts->processes[process == PROFILE_NONE ? c->p->n_processes : process];
}

/* The rows are complete and sorted by process. */
static void find_processes(const struct counting *c)
{
	const struct function_counts *counts = c->counts;
	const struct profile *p = c->p;

	for (size_t i = 0; i <= p->n_processes; i++)
		c->counts->processes[i].process = i < p->n_processes ? (uint32_t)i : PROFILE_NONE;
	c->counts->n_processes = p->n_processes + 1;
	for (size_t i = counts->n_rows; i-- > 0;) {
		tally_of(c, counts->rows[i].process)->first = i;
		tally_of(c, counts->rows[i].process)->n++;
	}
}

static void count_processes(const struct counting *c)
{
	const struct profile *p = c->p;

	for (size_t i = 0; i < p->n_stacks; i++) {
		tally_of(c, p->stacks[i].process)->samples += p->stacks[i].samples;
		tally_of(c, p->stacks[i].process)->weight += p->stacks[i].weight;
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		tally_of(c, p->branches[i].process)->taken += p->branches[i].taken;
		tally_of(c, p->branches[i].process)->cycles += p->branches[i].cycles;
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		tally_of(c, p->blocks[i].process)->runs += p->blocks[i].runs;
	for (size_t i = 0; i < p->n_streams; i++)
		tally_of(c, p->streams[i].process)->hits += p->streams[i].hits;
}

/* Before the stacks. */
static int start(struct counting *c)
{
	struct function_counts *counts = c->counts;
	const struct profile *p = c->p;

	counts->processes = calloc(p->n_processes + 1, sizeof(*counts->processes));
	c->places = calloc(p->n_places + 1, sizeof(*c->places));
	c->active = calloc(function_counts_n_slots(counts), sizeof(*c->active));
	c->last = calloc(function_counts_n_slots(counts), sizeof(*c->last));
	if (!counts->processes || !c->places || !c->active || !c->last)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_places; i++)
		c->places[i] = find_counted(c, &p->places[i]);
	return 0;
}

/* After the stacks. */
static int finish(struct counting *c)
{
	if (!c->by_object) {
		count_branches(c);
		count_blocks(c);
	}
	if (c->failed || add_up(c->counts) < 0)
		return -ENOMEM;
	find_processes(c);
	if (!c->by_object)
		count_processes(c);
	return 0;
}

/* All of @profile. */
static int count(struct tables tables, const struct profile *profile)
{
	int r = 0;

	assert(profile->finalized);

	for (size_t i = 0; i < tables.n; i++) {
		tables.first[i].p = profile;
		*tables.first[i].counts = (struct function_counts){
			.n_functions = profile->n_functions,
			.n_objects = profile->n_objects,
		};
	}
	for (size_t i = 0; i < tables.n && r == 0; i++)
		r = start(&tables.first[i]);
	if (r == 0)
		r = count_stacks(&tables, profile);
	for (size_t i = 0; i < tables.n && r == 0; i++)
		r = finish(&tables.first[i]);
	for (size_t i = 0; i < tables.n; i++)
		counting_done(&tables.first[i]);
	return r;
}

int function_counts_init(struct function_counts *counts, const struct profile *profile)
{
	struct counting table = { .counts = counts };

	return count((struct tables){ &table, 1 }, profile);
}

int function_counts_init_objects(struct function_counts *counts, const struct profile *profile)
{
	struct counting table = { .counts = counts, .by_object = true };

	return count((struct tables){ &table, 1 }, profile);
}

int function_counts_init_both(struct function_counts *functions, struct function_counts *objects,
			      const struct profile *profile)
{
	struct counting tables[] = { { .counts = functions },
				     { .counts = objects, .by_object = true } };

	return count((struct tables){ tables, 2 }, profile);
}

void function_counts_done(struct function_counts *counts)
{
	free(counts->rows);
	free(counts->processes);
}
