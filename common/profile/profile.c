/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile's tables: adding rows, comparing two profiles, looking up locations. Adding appends
 * only; finalize.c makes a canonical profile of the rows.
 */
#include "common/profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/strings.h"

int profile_new(struct profile **ret)
{
	struct profile *p;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	r = strings_new(&p->strings);
	if (r < 0) {
		free(p);
		return r;
	}
	*ret = p;
	return 0;
}

struct profile *profile_free(struct profile *profile)
{
	if (!profile)
		return NULL;
	free(profile->objects);
	free(profile->processes);
	free(profile->functions);
	free(profile->stacks);
	free(profile->streams);
	free(profile->branches);
	free(profile->blocks);
	free(profile->outer);
	free(profile->places);
	free(profile->stack_places);
	strings_free(profile->strings);
	free(profile);
	return NULL;
}

const char *profile_string(struct profile *profile, const char *s, int *r)
{
	const char *own;

	if (!s)
		return NULL;
	own = strings_intern(profile->strings, s);
	if (!own)
		*r = -ENOMEM;
	return own;
}

/* Room for one more row, with an index below PROFILE_NONE. */
#define RESERVE_ROW(p, table)             \
	((p)->n_##table >= PROFILE_NONE ? \
		 -ENOMEM :                \
		 ARRAY_RESERVE(&(p)->table, &(p)->cap_##table, (p)->n_##table + 1))

int64_t profile_add_object(struct profile *profile, const struct profile_object *object)
{
	struct profile_object copy = *object;
	int r;

	assert(object->kind < N_OBJECT_KINDS);
	assert(object->n_build_id <= PROFILE_BUILD_ID_MAX);

	memset(copy.build_id + copy.n_build_id, 0, PROFILE_BUILD_ID_MAX - copy.n_build_id);
	r = RESERVE_ROW(profile, objects);
	copy.path = profile_string(profile, object->path ?: "", &r);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->objects[profile->n_objects] = copy;
	return (int64_t)profile->n_objects++;
}

int64_t profile_add_process(struct profile *profile, const struct profile_process *process)
{
	struct profile_process copy = *process;
	int r;

	assert(process->pid >= -1);

	r = RESERVE_ROW(profile, processes);
	copy.comm = profile_string(profile, process->comm ?: "", &r);
	copy.executable = profile_string(profile, process->executable, &r);
	copy.unit = profile_string(profile, process->unit, &r);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->processes[profile->n_processes] = copy;
	return (int64_t)profile->n_processes++;
}

int64_t profile_add_function(struct profile *profile, const struct profile_function *function)
{
	struct profile_function copy = *function;
	int r;

	r = RESERVE_ROW(profile, functions);
	copy.name = profile_string(profile, function->name ?: "", &r);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->functions[profile->n_functions] = copy;
	return (int64_t)profile->n_functions++;
}

int profile_reserve_stacks(struct profile *profile, size_t n)
{
	return ARRAY_RESERVE(&profile->stacks, &profile->cap_stacks, profile->n_stacks + n);
}

int64_t profile_add_stack(struct profile *profile, const struct profile_stack *stack)
{
	int r;

	if (stack->parent != PROFILE_NONE) {
		assert(stack->parent < profile->n_stacks);
		assert(stack->process == profile->stacks[stack->parent].process);
	}

	r = RESERVE_ROW(profile, stacks);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->stacks[profile->n_stacks] = *stack;
	return (int64_t)profile->n_stacks++;
}

int64_t profile_add_stream(struct profile *profile, const struct profile_stream *stream)
{
	int r;

	if (stream->parent != PROFILE_NONE) {
		assert(stream->parent < profile->n_streams);
		assert(stream->process == profile->streams[stream->parent].process);
	}

	r = RESERVE_ROW(profile, streams);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->streams[profile->n_streams] = *stream;
	return (int64_t)profile->n_streams++;
}

int64_t profile_add_branch(struct profile *profile, const struct profile_branch *branch)
{
	int r;

	assert(branch->kind < N_BRANCH_KINDS);

	r = RESERVE_ROW(profile, branches);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->branches[profile->n_branches] = *branch;
	return (int64_t)profile->n_branches++;
}

int64_t profile_add_block(struct profile *profile, const struct profile_block *block)
{
	int r;

	r = RESERVE_ROW(profile, blocks);
	if (r < 0)
		return r;
	profile->finalized = false;
	profile->blocks[profile->n_blocks] = *block;
	return (int64_t)profile->n_blocks++;
}

static bool same_string(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_location(struct location a, struct location b)
{
	return a.object == b.object && a.offset == b.offset;
}

static bool same_info(const struct profile_info *a, const struct profile_info *b)
{
	return same_string(a->mode, b->mode) && same_string(a->event, b->event) &&
	       same_string(a->hostname, b->hostname) && same_string(a->os_release, b->os_release) &&
	       same_string(a->cpu, b->cpu) && a->n_cpus == b->n_cpus && a->depth == b->depth &&
	       a->start_ns == b->start_ns && a->end_ns == b->end_ns;
}

static bool same_object(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && a->n_build_id == b->n_build_id &&
	       memcmp(a->build_id, b->build_id, sizeof(a->build_id)) == 0 && a->major == b->major &&
	       a->minor == b->minor && a->inode == b->inode && same_string(a->path, b->path) &&
	       a->base == b->base && a->untrusted == b->untrusted && a->ctime_ns == b->ctime_ns;
}

static bool same_process(const struct profile_process *a, const struct profile_process *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns && same_string(a->comm, b->comm) &&
	       same_string(a->executable, b->executable) && same_string(a->unit, b->unit) &&
	       a->uid == b->uid && a->restricted == b->restricted && a->samples == b->samples &&
	       a->n_gone == b->n_gone;
}

static bool same_function(const struct profile_function *a, const struct profile_function *b)
{
	return a->object == b->object && a->start == b->start && a->size == b->size &&
	       same_string(a->name, b->name) && a->fingerprint == b->fingerprint;
}

static bool same_stack(const struct profile_stack *a, const struct profile_stack *b)
{
	return a->parent == b->parent && a->process == b->process &&
	       same_location(a->frame, b->frame) && a->samples == b->samples &&
	       a->pruned == b->pruned && a->stitched == b->stitched && a->weight == b->weight &&
	       a->variance == b->variance;
}

static bool same_stream(const struct profile_stream *a, const struct profile_stream *b)
{
	return a->parent == b->parent && a->process == b->process &&
	       same_location(a->from, b->from) && same_location(a->to, b->to) &&
	       a->hits == b->hits && a->pruned == b->pruned && a->cycles == b->cycles &&
	       a->variance == b->variance;
}

static bool same_branch(const struct profile_branch *a, const struct profile_branch *b)
{
	return a->process == b->process && same_location(a->from, b->from) &&
	       same_location(a->to, b->to) && a->kind == b->kind && a->taken == b->taken &&
	       a->mispredicted == b->mispredicted && a->predicted == b->predicted &&
	       a->aborted == b->aborted && a->cycles == b->cycles &&
	       a->cycles_rows == b->cycles_rows && a->variance == b->variance;
}

static bool same_block(const struct profile_block *a, const struct profile_block *b)
{
	return a->process == b->process && a->object == b->object && a->start == b->start &&
	       a->end == b->end && a->runs == b->runs && a->cycles == b->cycles &&
	       a->cycles_rows == b->cycles_rows && a->variance == b->variance;
}

#define SAME_TABLE(a, b, table, same)                                   \
	({                                                              \
		size_t _n = (a)->n_##table;                             \
		bool _same = _n == (b)->n_##table;                      \
		for (size_t _i = 0; _same && _i < _n; _i++)             \
			_same = same(&(a)->table[_i], &(b)->table[_i]); \
		_same;                                                  \
	})

bool profile_equal(const struct profile *a, const struct profile *b)
{
	assert(a->finalized && b->finalized);

	return same_info(&a->info, &b->info) &&
	       memcmp(&a->counters, &b->counters, sizeof(a->counters)) == 0 &&
	       SAME_TABLE(a, b, objects, same_object) &&
	       SAME_TABLE(a, b, processes, same_process) &&
	       SAME_TABLE(a, b, functions, same_function) && SAME_TABLE(a, b, stacks, same_stack) &&
	       SAME_TABLE(a, b, streams, same_stream) && SAME_TABLE(a, b, branches, same_branch) &&
	       SAME_TABLE(a, b, blocks, same_block);
}

/* The last function, of any object, that starts at @location or before it; or PROFILE_NONE. */
static uint32_t find_start(const struct profile *profile, struct location location)
{
	size_t low = 0, high = profile->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct profile_function *f = &profile->functions[middle];

		if (f->object < location.object ||
		    (f->object == location.object && f->start <= location.offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? PROFILE_NONE : (uint32_t)(low - 1);
}

size_t profile_bytes(const struct profile *p)
{
	return p->n_objects * sizeof(*p->objects) + p->n_processes * sizeof(*p->processes) +
	       p->n_functions * sizeof(*p->functions) + p->n_places * sizeof(*p->places) +
	       p->n_stacks * (sizeof(*p->stacks) + sizeof(*p->stack_places)) +
	       p->n_streams * sizeof(*p->streams) + p->n_branches * sizeof(*p->branches) +
	       p->n_blocks * sizeof(*p->blocks);
}

uint32_t profile_innermost(const struct profile *profile, uint32_t last, struct location location)
{
	for (uint32_t i = last; i != PROFILE_NONE; i = profile->outer[i]) {
		const struct profile_function *f = &profile->functions[i];

		if (f->object != location.object)
			return PROFILE_NONE;
		if (location.offset - f->start < f->size)
			return i;
	}
	return PROFILE_NONE;
}

const struct profile_function *profile_find_function(const struct profile *profile,
						     struct location location)
{
	uint32_t i;

	assert(profile->finalized);

	i = profile_innermost(profile, find_start(profile, location), location);
	return i == PROFILE_NONE ? NULL : &profile->functions[i];
}

struct location profile_place_frame(const struct profile *profile, struct location frame)
{
	struct location next = { frame.object, frame.offset + 1 };
	const struct profile_function *function;

	if (profile_find_function(profile, frame))
		return frame;
	function = profile_find_function(profile, next);
	return function && function->start == next.offset ? next : frame;
}

uint64_t profile_raw_address(const struct profile *profile, struct location location)
{
	const struct profile_object *object;

	if (location.object == PROFILE_NONE)
		return location.offset;
	assert(location.object < profile->n_objects);
	object = &profile->objects[location.object];
	if (object->kind == OBJECT_KERNEL || object->kind == OBJECT_MODULE)
		return object->base + location.offset;
	return location.offset;
}
