/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of the part are added as negative counts: unsigned sums of them are right modulo 2^64.
 * Rows without a count are then left out.
 */
#include "common/profile/subtract.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/append.h"
#include "common/profile/drop-empty.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_file(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && a->major == b->major && a->minor == b->minor &&
	       a->inode == b->inode && a->base == b->base && strcmp(a->path, b->path) == 0;
}

/* The same object of the whole, else the same file, else the object itself. */
static const struct profile_object *find_object(const struct profile *whole,
						const struct profile_object *object)
{
	const struct profile_object *file = NULL;

	for (size_t i = 0; i < whole->n_objects; i++) {
		const struct profile_object *other = &whole->objects[i];

		if (profile_same_object(object, other))
			return object;
		if (!file && is_same_file(object, other))
			file = other;
	}
	return file ?: object;
}

static bool is_same_process(const struct profile_process *a, const struct profile_process *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns &&
	       (a->n_gone > 0) == (b->n_gone > 0) && strcmp(a->comm, b->comm) == 0;
}

static bool has_same_owner(const struct profile_process *a, const struct profile_process *b)
{
	return a->uid == b->uid && a->restricted == b->restricted &&
	       is_same_text(a->executable, b->executable) && is_same_text(a->unit, b->unit);
}

/* The first of @whole with that number or a larger one: processes are sorted by it. */
static size_t first_process(const struct profile *whole, int32_t pid)
{
	size_t low = 0, high = whole->n_processes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (whole->processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct profile_process *find_process(const struct profile *whole,
						  const struct profile_process *process)
{
	const struct profile_process *likely = NULL;

	for (size_t i = first_process(whole, process->pid);
	     i < whole->n_processes && whole->processes[i].pid == process->pid; i++) {
		const struct profile_process *other = &whole->processes[i];

		if (!is_same_process(process, other))
			continue;
		if (has_same_owner(process, other))
			return process;
		if (other->n_gone == 0) /* those that have gone have no number to know them by */
			likely = likely ?: other;
	}
	return likely ?: process;
}

static void negate_counts(struct profile *p)
{
	profile_scale_rows(p, UINT64_MAX);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].weight = -p->stacks[i].weight;
}

/* A copy of @part by the names that @whole knows, with negative counts. */
static int negative(struct profile **ret, const struct profile *whole, const struct profile *part)
{
	_cleanup_(profile_freep) struct profile *copy = NULL;
	int r = profile_new(&copy);

	if (r >= 0)
		r = profile_append(copy, part);
	if (r < 0)
		return r;
	for (size_t i = 0; i < copy->n_objects; i++)
		copy->objects[i] = *find_object(whole, &copy->objects[i]);
	for (size_t i = 0; i < copy->n_processes; i++) {
		uint64_t samples = copy->processes[i].samples;

		copy->processes[i] = *find_process(whole, &copy->processes[i]);
		copy->processes[i].samples = samples;
		copy->processes[i].n_gone = 0;
	}
	negate_counts(copy);
	*ret = TAKE_PTR(copy);
	return 0;
}

static void clamp(uint64_t *count)
{
	if ((int64_t)*count < 0)
		*count = 0;
}

/* Children follow their parents in the table. */
static void clamp_stacks(struct profile *p)
{
	for (size_t i = p->n_stacks; i-- > 0;) {
		struct profile_stack *row = &p->stacks[i];

		if ((int64_t)row->samples < 0 && row->parent != PROFILE_NONE) {
			p->stacks[row->parent].samples += row->samples;
			p->stacks[row->parent].weight += row->weight;
			row->samples = row->weight = 0;
		}
		clamp(&row->samples);
		clamp(&row->stitched);
		clamp(&row->weight);
		clamp(&row->pruned);
		clamp(&row->variance);
	}
}

static void clamp_streams(struct profile *p)
{
	for (size_t i = p->n_streams; i-- > 0;) {
		struct profile_stream *row = &p->streams[i];

		if ((int64_t)row->hits < 0 && row->parent != PROFILE_NONE) {
			p->streams[row->parent].hits += row->hits;
			row->hits = 0;
		}
		clamp(&row->hits);
		clamp(&row->pruned);
		clamp(&row->cycles);
		clamp(&row->variance);
	}
}

static void clamp_rows(struct profile *p)
{
	for (size_t i = 0; i < p->n_processes; i++)
		clamp(&p->processes[i].samples);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *row = &p->branches[i];

		clamp(&row->taken);
		clamp(&row->mispredicted);
		clamp(&row->predicted);
		clamp(&row->aborted);
		clamp(&row->cycles);
		clamp(&row->cycles_rows);
		clamp(&row->variance);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		clamp(&row->runs);
		clamp(&row->cycles);
		clamp(&row->cycles_rows);
		clamp(&row->variance);
	}
}

static void subtract_counters(struct profile_counters *sum, const struct profile *whole,
			      const struct profile *part)
{
	*sum = whole->counters;
#define X(name, what)                     \
	sum->name -= part->counters.name; \
	clamp(&sum->name);
	PROFILE_COUNTERS(X)
#undef X
	/* bounds do not add up */
	sum->stacks_error = whole->counters.stacks_error;
	sum->streams_error = whole->counters.streams_error;
}

int profile_subtract(struct profile **ret, const struct profile *whole, const struct profile *part)
{
	_cleanup_(profile_freep) struct profile *rest = NULL, *taken = NULL;
	int r;

	assert(whole->finalized && part->finalized);
	r = profile_new(&rest);
	if (r >= 0)
		r = negative(&taken, whole, part);
	if (r >= 0)
		r = profile_append(rest, whole);
	if (r >= 0)
		r = profile_append(rest, taken);
	if (r >= 0)
		r = profile_add_info(rest, &whole->info, true);
	if (r >= 0)
		r = profile_finalize(rest);
	if (r < 0)
		return r;
	subtract_counters(&rest->counters, whole, part);
	clamp_stacks(rest);
	clamp_streams(rest);
	clamp_rows(rest);
	r = profile_drop_empty(rest);
	if (r >= 0)
		r = profile_finalize(rest);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(rest);
	return 0;
}
