/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * First the rows of the short tables (processes, objects, functions) are matched. Then each row of
 * a long table is kept or dropped by the rows it refers to. The rows kept go into a new profile;
 * finalizing it drops the objects and functions that are no longer used.
 */
#include "common/profile/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/other.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"

/* The rows of the profile @p that are kept, and their indices in @part. */
struct selection {
	const struct profile *p;
	const struct profile_filter *filter;
	struct profile *part;
	bool by_process, by_place; /* the kinds of conditions set */
	bool *processes;           /* matches */
	bool *objects;             /* matches; with a symbol: has functions that match */
	bool *functions;
	uint32_t *process_map;
	uint32_t *stack_map;
	uint32_t *stream_map;
	bool *stacks; /* kept, possibly as a caller only */
};

static void selection_done(struct selection *s)
{
	free(s->processes);
	free(s->objects);
	free(s->functions);
	free(s->process_map);
	free(s->stack_map);
	free(s->stream_map);
	free(s->stacks);
}

static void select_functions(struct selection *s)
{
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_functions; i++) {
		const struct profile_function *f = &p->functions[i];

		if (f->object != PROFILE_NONE && !s->objects[f->object])
			continue;
		if (f->object == PROFILE_NONE && s->filter->object)
			continue;
		s->functions[i] = profile_symbol_is_in(f->name, s->filter->symbol);
	}

	/* locations in objects without matching functions need no search */
	memset(s->objects, 0, p->n_objects * sizeof(*s->objects));
	for (size_t i = 0; i < p->n_functions; i++) {
		if (s->functions[i] && p->functions[i].object != PROFILE_NONE)
			s->objects[p->functions[i].object] = true;
	}
}

static int select_short_tables(struct selection *s)
{
	const struct profile *p = s->p;

	s->processes = calloc(p->n_processes ?: 1, sizeof(*s->processes));
	s->objects = calloc(p->n_objects ?: 1, sizeof(*s->objects));
	s->functions = calloc(p->n_functions ?: 1, sizeof(*s->functions));
	if (!s->processes || !s->objects || !s->functions)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		s->processes[i] = profile_process_matches(&p->processes[i], s->filter);
	if (!s->filter->object)
		memset(s->objects, 1, p->n_objects * sizeof(*s->objects));
	else if (profile_select_objects(p, s->filter->object, s->objects) < 0)
		return -ENOMEM;
	if (s->filter->symbol)
		select_functions(s);
	return 0;
}

static bool keeps_process(const struct selection *s, uint32_t process)
{
	return process == PROFILE_NONE ? !s->by_process : s->processes[process];
}

static bool keeps_place(const struct selection *s, struct location place)
{
	const struct profile_function *function;

	if (place.object == PROFILE_NONE ? s->filter->object != NULL : !s->objects[place.object])
		return false;
	if (!s->filter->symbol)
		return true;
	function = profile_find_function(s->p, place);
	return function && s->functions[function - s->p->functions];
}

/* Copies all objects and functions, so their indices stay; finalizing drops the unused ones. */
static int copy_objects(struct selection *s)
{
	int64_t r;

	for (size_t i = 0; i < s->p->n_objects; i++) {
		r = profile_add_object(s->part, &s->p->objects[i]);
		if (r < 0)
			return (int)r;
	}
	for (size_t i = 0; i < s->p->n_functions; i++) {
		r = profile_add_function(s->part, &s->p->functions[i]);
		if (r < 0)
			return (int)r;
	}
	return 0;
}

/* The process's index in the part; its first row adds it there. */
static int64_t map_process(struct selection *s, uint32_t process)
{
	struct profile_process row;
	int64_t at;

	if (process == PROFILE_NONE || s->process_map[process] != PROFILE_NONE)
		return process == PROFILE_NONE ? PROFILE_NONE : s->process_map[process];
	row = s->p->processes[process];
	if (s->by_place)
		row.samples = 0;
	at = profile_add_process(s->part, &row);
	if (at >= 0)
		s->process_map[process] = (uint32_t)at;
	return at;
}

static int copy_processes(struct selection *s)
{
	const struct profile *p = s->p;

	s->process_map = calloc(p->n_processes ?: 1, sizeof(*s->process_map));
	if (!s->process_map)
		return -ENOMEM;
	memset(s->process_map, 0xff, p->n_processes * sizeof(*s->process_map)); /* PROFILE_NONE */
	for (size_t i = 0; !s->by_place && i < p->n_processes; i++) {
		int64_t r = s->processes[i] ? map_process(s, (uint32_t)i) : 0;

		if (r < 0)
			return (int)r;
	}
	return 0;
}

static bool keeps_leaf(const struct selection *s, const struct profile_stack *stack)
{
	return keeps_process(s, stack->process) && (!s->by_place || keeps_place(s, stack->frame));
}

/*
 * Keeps the nodes that match as a leaf and, if locations matter, have samples. Their callers, which
 * precede them in the table, stay too.
 */
static int select_stacks(struct selection *s)
{
	const struct profile *p = s->p;

	s->stacks = calloc(p->n_stacks ?: 1, sizeof(*s->stacks));
	if (!s->stacks)
		return -ENOMEM;
	for (size_t i = p->n_stacks; i-- > 0;) {
		const struct profile_stack *stack = &p->stacks[i];

		if (!s->stacks[i])
			s->stacks[i] = (stack->samples > 0 || !s->by_place) && keeps_leaf(s, stack);
		if (s->stacks[i] && stack->parent != PROFILE_NONE)
			s->stacks[stack->parent] = true;
	}
	return 0;
}

static int copy_stack(struct selection *s, size_t i)
{
	struct profile_counters *counters = &s->part->counters;
	struct profile_stack row = s->p->stacks[i];
	int64_t process = map_process(s, row.process), at;

	if (process < 0)
		return (int)process;
	if (keeps_leaf(s, &row)) {
		counters->samples += row.samples;
		counters->weight += row.weight;
		if (s->by_place && row.process != PROFILE_NONE)
			s->part->processes[process].samples += row.samples;
	} else {
		row.samples = row.stitched = row.weight = row.pruned = row.variance = 0;
	}
	row.process = (uint32_t)process;
	if (row.parent != PROFILE_NONE)
		row.parent = s->stack_map[row.parent];
	at = profile_add_stack(s->part, &row);
	if (at < 0)
		return (int)at;
	s->stack_map[i] = (uint32_t)at;
	return 0;
}

static int copy_stacks(struct selection *s)
{
	int r;

	s->stack_map = calloc(s->p->n_stacks ?: 1, sizeof(*s->stack_map));
	if (!s->stack_map)
		return -ENOMEM;
	r = select_stacks(s);
	for (size_t i = 0; r >= 0 && i < s->p->n_stacks; i++)
		r = s->stacks[i] ? copy_stack(s, i) : 0;
	return r;
}

/* A row that stands for others has no symbol. */
static bool keeps_other(const struct selection *s, uint32_t process, uint32_t object)
{
	if (!keeps_process(s, process) || s->filter->symbol)
		return false;
	return !s->filter->object || (object != PROFILE_NONE && s->objects[object]);
}

/* A stream matches by its root, the newest branch: it led to the sampled location. */
static bool keeps_stream(const struct selection *s, const struct profile_stream *stream)
{
	if (other_is_stream(stream))
		return keeps_other(s, stream->process, stream->from.object);
	if (stream->parent != PROFILE_NONE)
		return s->stream_map[stream->parent] != PROFILE_NONE;
	return keeps_process(s, stream->process) && (!s->by_place || keeps_place(s, stream->to));
}

static int copy_stream(struct selection *s, size_t i)
{
	struct profile_stream row = s->p->streams[i];
	int64_t process = map_process(s, row.process), at;

	if (process < 0)
		return (int)process;
	row.process = (uint32_t)process;
	if (row.parent != PROFILE_NONE)
		row.parent = s->stream_map[row.parent];
	at = profile_add_stream(s->part, &row);
	if (at < 0)
		return (int)at;
	s->stream_map[i] = (uint32_t)at;
	s->part->counters.streams += row.hits;
	return 0;
}

static int copy_streams(struct selection *s)
{
	size_t n = s->p->n_streams;
	int r = 0;

	s->stream_map = calloc(n ?: 1, sizeof(*s->stream_map));
	if (!s->stream_map)
		return -ENOMEM;
	memset(s->stream_map, 0xff, n * sizeof(*s->stream_map)); /* PROFILE_NONE */
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = keeps_stream(s, &s->p->streams[i]) ? copy_stream(s, i) : 0;
	return r;
}

static bool keeps_branch(const struct selection *s, const struct profile_branch *branch)
{
	if (other_is_branch(branch))
		return keeps_other(s, branch->process, branch->from.object);
	return keeps_process(s, branch->process) &&
	       (!s->by_place || keeps_place(s, branch->from) ||
		(!s->filter->sources_only && keeps_place(s, branch->to)));
}

static int copy_branches(struct selection *s)
{
	for (size_t i = 0; i < s->p->n_branches; i++) {
		struct profile_branch row = s->p->branches[i];
		int64_t r;

		if (!keeps_branch(s, &row))
			continue;
		r = map_process(s, row.process);
		if (r < 0)
			return (int)r;
		row.process = (uint32_t)r;
		r = profile_add_branch(s->part, &row);
		if (r < 0)
			return (int)r;
		s->part->counters.rows_counted += row.taken;
		s->part->counters.cycles += row.cycles;
	}
	return 0;
}

static bool keeps_block(const struct selection *s, const struct profile_block *block)
{
	if (other_is_block(block))
		return keeps_other(s, block->process, block->object);
	return keeps_process(s, block->process) &&
	       (!s->by_place || keeps_place(s, (struct location){ block->object, block->start }) ||
		keeps_place(s, (struct location){ block->object, block->end }));
}

static int copy_blocks(struct selection *s)
{
	for (size_t i = 0; i < s->p->n_blocks; i++) {
		struct profile_block row = s->p->blocks[i];
		int64_t r;

		if (!keeps_block(s, &row))
			continue;
		r = map_process(s, row.process);
		if (r < 0)
			return (int)r;
		row.process = (uint32_t)r;
		r = profile_add_block(s->part, &row);
		if (r < 0)
			return (int)r;
		s->part->counters.runs_counted += row.runs;
	}
	return 0;
}

static int copy_info(struct selection *s)
{
	struct profile_counters *counters = &s->part->counters;
	struct profile_info *info = &s->part->info;
	int r = 0;

	*counters = s->p->counters;
	counters->samples = counters->weight = counters->streams = 0;
	counters->rows_counted = counters->runs_counted = counters->cycles = 0;

	*info = s->p->info;
	info->mode = profile_string(s->part, info->mode, &r);
	info->event = profile_string(s->part, info->event, &r);
	info->hostname = profile_string(s->part, info->hostname, &r);
	info->os_release = profile_string(s->part, info->os_release, &r);
	info->cpu = profile_string(s->part, info->cpu, &r);
	return r;
}

/* The order matters: each step uses the results of the steps before it. */
static int copy_part(struct selection *s)
{
	static int (*const steps[])(struct selection *) = {
		select_short_tables, copy_info,    copy_objects,  copy_processes,
		copy_stacks,         copy_streams, copy_branches, copy_blocks,
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int r = steps[i](s);

		if (r < 0)
			return r;
	}
	profile_share_estimated(&s->part->counters, &s->p->counters);
	return profile_finalize(s->part);
}

bool profile_filter_is_by_process(const struct profile_filter *filter)
{
	return filter->pid || filter->uid || filter->visible || filter->comm ||
	       filter->exclude_comm || filter->unit || filter->container || filter->chosen;
}

unsigned int profile_filter_tables(const struct profile_filter *filter, unsigned int tables)
{
	return profile_filter_is_by_process(filter) || filter->object || filter->symbol ? 0 :
											  tables;
}

int profile_filter(struct profile **ret, const struct profile *profile,
		   const struct profile_filter *filter)
{
	_cleanup_(profile_freep) struct profile *part = NULL;
	_cleanup_(selection_done) struct selection s = {
		.p = profile,
		.filter = filter,
		.by_process = profile_filter_is_by_process(filter),
		.by_place = filter->object || filter->symbol,
	};
	int r;

	assert(profile->finalized);

	if (!s.by_process && !s.by_place)
		return profile_merge(ret, &profile, 1);
	r = profile_new(&part);
	if (r < 0)
		return r;
	s.part = part;
	r = copy_part(&s);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(part);
	return 0;
}
