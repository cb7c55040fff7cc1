/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merging appends the rows of all profiles to a new one; finalizing it adds up equal keys. The sum
 * is finalized whenever it reaches twice its size, so that a day of windows does not take the
 * memory of all its windows.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/profile.h"
#include "common/util/cleanup.h"

#define ROWS_BEFORE_FINALIZE 100000

/* The indices of one profile's rows in the sum. */
struct maps {
	uint32_t *objects, *processes, *stacks, *streams;
};

static void maps_done(struct maps *maps)
{
	free(maps->objects);
	free(maps->processes);
	free(maps->stacks);
	free(maps->streams);
}

static inline uint32_t map_index(const uint32_t *map, uint32_t i)
{
	return i == PROFILE_NONE ? PROFILE_NONE : map[i];
}

static struct location map_location(const struct maps *maps, struct location location)
{
	location.object = map_index(maps->objects, location.object);
	return location;
}

static int append_objects(struct profile *sum, const struct profile *p, struct maps *maps)
{
	maps->objects = calloc(p->n_objects ?: 1, sizeof(*maps->objects));
	if (!maps->objects)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_objects; i++) {
		int64_t at = profile_add_object(sum, &p->objects[i]);

		if (at < 0)
			return (int)at;
		maps->objects[i] = (uint32_t)at;
	}
	return 0;
}

static int append_processes(struct profile *sum, const struct profile *p, struct maps *maps)
{
	maps->processes = calloc(p->n_processes ?: 1, sizeof(*maps->processes));
	if (!maps->processes)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++) {
		int64_t at = profile_add_process(sum, &p->processes[i]);

		if (at < 0)
			return (int)at;
		maps->processes[i] = (uint32_t)at;
	}
	return 0;
}

static int append_functions(struct profile *sum, const struct profile *p, const struct maps *maps)
{
	for (size_t i = 0; i < p->n_functions; i++) {
		struct profile_function row = p->functions[i];
		int64_t at;

		row.object = map_index(maps->objects, row.object);
		at = profile_add_function(sum, &row);
		if (at < 0)
			return (int)at;
	}
	return 0;
}

static int append_stacks(struct profile *sum, const struct profile *p, struct maps *maps)
{
	maps->stacks = calloc(p->n_stacks ?: 1, sizeof(*maps->stacks));
	if (!maps->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack row = p->stacks[i];
		int64_t at;

		row.parent = map_index(maps->stacks, row.parent);
		row.process = map_index(maps->processes, row.process);
		row.frame = map_location(maps, row.frame);
		at = profile_add_stack(sum, &row);
		if (at < 0)
			return (int)at;
		maps->stacks[i] = (uint32_t)at;
	}
	return 0;
}

static int append_streams(struct profile *sum, const struct profile *p, struct maps *maps)
{
	maps->streams = calloc(p->n_streams ?: 1, sizeof(*maps->streams));
	if (!maps->streams)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream row = p->streams[i];
		int64_t at;

		row.parent = map_index(maps->streams, row.parent);
		row.process = map_index(maps->processes, row.process);
		row.from = map_location(maps, row.from);
		row.to = map_location(maps, row.to);
		at = profile_add_stream(sum, &row);
		if (at < 0)
			return (int)at;
		maps->streams[i] = (uint32_t)at;
	}
	return 0;
}

static int append_branches(struct profile *sum, const struct profile *p, const struct maps *maps)
{
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch row = p->branches[i];
		int64_t at;

		row.process = map_index(maps->processes, row.process);
		row.from = map_location(maps, row.from);
		row.to = map_location(maps, row.to);
		at = profile_add_branch(sum, &row);
		if (at < 0)
			return (int)at;
	}
	return 0;
}

static int append_blocks(struct profile *sum, const struct profile *p, const struct maps *maps)
{
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block row = p->blocks[i];
		int64_t at;

		row.process = map_index(maps->processes, row.process);
		row.object = map_index(maps->objects, row.object);
		at = profile_add_block(sum, &row);
		if (at < 0)
			return (int)at;
	}
	return 0;
}

static int append_tables(struct profile *sum, const struct profile *p)
{
	_cleanup_(maps_done) struct maps maps = { 0 };
	int r;

	r = append_objects(sum, p, &maps);
	if (r < 0)
		return r;
	r = append_processes(sum, p, &maps);
	if (r < 0)
		return r;
	r = append_functions(sum, p, &maps);
	if (r < 0)
		return r;
	r = append_stacks(sum, p, &maps);
	if (r < 0)
		return r;
	r = append_streams(sum, p, &maps);
	if (r < 0)
		return r;
	r = append_branches(sum, p, &maps);
	if (r < 0)
		return r;
	return append_blocks(sum, p, &maps);
}

static void add_counters(struct profile_counters *sum, const struct profile_counters *counters)
{
#define X(name, what) sum->name += counters->name;
	PROFILE_COUNTERS(X)
#undef X
}

static const char *common_string(const char *a, const char *b, const char *otherwise)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return a;
	return otherwise;
}

/* @sum borrows its strings from the profiles. */
static void merge_info(struct profile_info *sum, const struct profile_info *info)
{
	sum->mode = common_string(sum->mode, info->mode, "mixed");
	sum->event = common_string(sum->event, info->event, NULL);
	sum->hostname = common_string(sum->hostname, info->hostname, NULL);
	sum->os_release = common_string(sum->os_release, info->os_release, NULL);
	sum->cpu = common_string(sum->cpu, info->cpu, NULL);
	sum->n_cpus = sum->n_cpus == info->n_cpus ? sum->n_cpus : 0;
	sum->depth = sum->depth == info->depth ? sum->depth : 0;
	if (sum->start_ns == 0 || (info->start_ns != 0 && info->start_ns < sum->start_ns))
		sum->start_ns = info->start_ns;
	sum->end_ns = MAX(sum->end_ns, info->end_ns);
}

static int own_info(struct profile *profile, const struct profile_info *info)
{
	int r = 0;

	profile->info = *info;
	profile->info.mode = profile_string(profile, info->mode, &r);
	profile->info.event = profile_string(profile, info->event, &r);
	profile->info.hostname = profile_string(profile, info->hostname, &r);
	profile->info.os_release = profile_string(profile, info->os_release, &r);
	profile->info.cpu = profile_string(profile, info->cpu, &r);
	return r;
}

int profile_add_info(struct profile *profile, const struct profile_info *info, bool is_first)
{
	struct profile_info sum = is_first ? *info : profile->info;

	if (!is_first)
		merge_info(&sum, info);
	return own_info(profile, &sum);
}

static size_t n_rows(const struct profile *p)
{
	return p->n_objects + p->n_processes + p->n_functions + p->n_stacks + p->n_streams +
	       p->n_branches + p->n_blocks;
}

/* Finalizes @sum if its rows are twice *@n_finalized, their number when it was last finalized. */
static int finalize_if_grown(struct profile *sum, size_t *n_finalized)
{
	int r;

	if (n_rows(sum) < MAX(2 * *n_finalized, (size_t)ROWS_BEFORE_FINALIZE))
		return 0;
	r = profile_finalize(sum);
	if (r < 0)
		return r;
	*n_finalized = n_rows(sum);
	return 0;
}

int profile_merge(struct profile **ret, const struct profile *const *profiles, size_t n)
{
	_cleanup_(profile_freep) struct profile *sum = NULL;
	struct profile_info info = { 0 };
	size_t n_finalized = 0;
	int r;

	r = profile_new(&sum);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		assert(profiles[i]->finalized);

		if (i == 0)
			info = profiles[i]->info;
		else
			merge_info(&info, &profiles[i]->info);
		add_counters(&sum->counters, &profiles[i]->counters);
		r = append_tables(sum, profiles[i]);
		if (r < 0)
			return r;
		r = finalize_if_grown(sum, &n_finalized);
		if (r < 0)
			return r;
	}
	r = own_info(sum, &info);
	if (r < 0)
		return r;
	r = profile_finalize(sum);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sum);
	return 0;
}
