/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/append.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

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

int profile_append(struct profile *sum, const struct profile *p)
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
