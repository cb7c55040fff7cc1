/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random profiles for tests. They have few keys, so that many rows have equal ones. The same seed
 * gives the same rows; @shuffle changes the order in which they are added.
 */
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/profile/profile.h"
#include "tests/support/random.h"

#define N_RANDOM_OBJECTS   6
#define N_RANDOM_PROCESSES 7
#define N_RANDOM_FUNCTIONS 25
#define N_RANDOM_STACKS    60
#define N_RANDOM_ROWS      120

/* 53 bits, so that sums do not overflow. */
static inline uint64_t random_count(uint64_t *state)
{
	return next_random(state) >> 11;
}

/* 0 .. n - 1, shuffled if @state is given. */
static inline void random_order(uint32_t *order, uint32_t n, uint64_t *state)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; state && i > 1; i--) {
		uint32_t k = random_below(state, i), swap = order[k];

		order[k] = order[i - 1];
		order[i - 1] = swap;
	}
}

/* The rows of a random profile, with their references before any order is chosen. */
struct random_rows {
	struct profile_object objects[N_RANDOM_OBJECTS];
	struct profile_process processes[N_RANDOM_PROCESSES];
	struct profile_function functions[N_RANDOM_FUNCTIONS];
	struct profile_stack stacks[N_RANDOM_STACKS];
	struct profile_stream streams[N_RANDOM_STACKS];
	struct profile_branch branches[N_RANDOM_ROWS];
	struct profile_block blocks[N_RANDOM_ROWS];
	uint64_t counters[sizeof(struct profile_counters) / sizeof(uint64_t)];
};

static inline struct location random_place(uint64_t *state)
{
	uint32_t object = random_below(state, N_RANDOM_OBJECTS + 1);

	if (object == N_RANDOM_OBJECTS)
		return (struct location){ PROFILE_NONE, UINT64_MAX - random_below(state, 3) };
	return (struct location){ object, random_below(state, 64) };
}

static inline uint32_t random_process(uint64_t *state)
{
	uint32_t process = random_below(state, N_RANDOM_PROCESSES + 1);

	return process == N_RANDOM_PROCESSES ? PROFILE_NONE : process;
}

static inline void random_short_rows(struct random_rows *rows, uint64_t *state)
{
	static const char *const paths[] = { "/bin/a", "/lib/\xff\xfe.so", "[kernel]", "/bin/b\n" };
	static const char *const words[] = { NULL, "x.service", "y \xee\xbe\x80", "caf\xc3\xa9" };

	for (size_t i = 0; i < N_RANDOM_OBJECTS; i++) {
		rows->objects[i] = (struct profile_object){
			.kind = random_below(state, N_OBJECT_KINDS),
			.path = paths[random_below(state, 4)],
			.inode = random_below(state, 2),
			.base = random_below(state, 2) * 0xffffffff81000000,
			.n_build_id = random_below(state, 2) ? 20 : 0,
			.build_id = { 0 },
		};
		if (rows->objects[i].n_build_id > 0) {
			uint8_t build_id = (uint8_t)random_below(state, 3);

			rows->objects[i].build_id[19] = build_id;
			rows->objects[i].path = paths[build_id]; /* nothing to unite */
			rows->objects[i].kind = build_id;
		}
		rows->objects[i].untrusted = random_below(state, 3) == 0;
		if (rows->objects[i].untrusted)
			rows->objects[i].ctime_ns = random_below(state, 2) * UINT64_MAX;
	}
	for (size_t i = 0; i < N_RANDOM_PROCESSES; i++)
		rows->processes[i] = (struct profile_process){
			.pid = (int32_t)random_below(state, 3) - 1,
			.start_ns = random_below(state, 2),
			.comm = words[1 + random_below(state, 3)],
			.executable = words[random_below(state, 2)],
			.unit = words[random_below(state, 4)],
			.uid = random_below(state, 2) ? random_below(state, 2) : UINT32_MAX,
			.restricted = random_below(state, 2),
			.samples = random_below(state, 100),
		};
	for (size_t i = 0; i < N_RANDOM_PROCESSES; i++)
		if (rows->processes[i].pid < 0)
			rows->processes[i].n_gone = rows->processes[i].samples % 3;
	for (size_t i = 0; i < N_RANDOM_FUNCTIONS; i++) {
		struct location place = random_place(state);

		rows->functions[i] = (struct profile_function){
			.object = place.object,
			.start = place.offset,
			.size = place.offset * 7 % 20, /* of one start it is one in all profiles */
			.name = words[1 + random_below(state, 3)],
			.fingerprint = random_below(state, 3),
		};
	}
}

static inline void random_long_rows(struct random_rows *rows, uint64_t *state)
{
	for (uint32_t i = 0; i < N_RANDOM_STACKS; i++) {
		uint32_t parent =
			i > 0 && random_below(state, 4) ? random_below(state, i) : PROFILE_NONE;

		rows->stacks[i] = (struct profile_stack){
			.parent = parent,
			.process = parent == PROFILE_NONE ? random_process(state) :
							    rows->stacks[parent].process,
			.frame = random_place(state),
			.samples = random_below(state, 5),
			.stitched = random_below(state, 2),
			.weight = random_count(state),
			.pruned = random_below(state, 2),
		};
		rows->stacks[i].frame.offset &= ~7ULL;
		rows->stacks[i].variance = 7 * rows->stacks[i].samples;
		rows->streams[i] = (struct profile_stream){
			.parent = parent,
			.process = rows->stacks[i].process,
			.from = random_place(state),
			.to = random_place(state),
			.hits = random_below(state, 5),
			.pruned = random_below(state, 2),
			.cycles = random_count(state),
		};
		rows->streams[i].from.offset &= ~15ULL;
		rows->streams[i].to.offset &= ~31ULL;
		rows->streams[i].variance = 5 * rows->streams[i].hits;
	}
	for (size_t i = 0; i < N_RANDOM_ROWS; i++) {
		struct location place = random_place(state);

		rows->branches[i] = (struct profile_branch){
			.process = random_process(state),
			.from = place,
			.to = random_place(state),
			.kind = (enum branch_kind)random_below(state, 3),
			.taken = random_below(state, 9),
			.predicted = random_below(state, 5),
			.cycles = random_count(state) << 11,
			.cycles_rows = 1,
		};
		rows->blocks[i] = (struct profile_block){
			.process = random_process(state),
			.object = place.object,
			.start = place.offset,
			.end = place.offset | 3,
			.runs = random_below(state, 9),
			.cycles = 7,
		};
		rows->branches[i].variance = 6 * rows->branches[i].taken;
		rows->blocks[i].variance = 4 * rows->blocks[i].runs;
	}
}

static inline struct random_rows *random_rows_new(uint64_t seed)
{
	struct random_rows *rows = calloc(1, sizeof(*rows));
	uint64_t state = seed * 2 + 1;

	assert(rows);
	random_short_rows(rows, &state);
	random_long_rows(rows, &state);
	for (size_t i = 0; i < sizeof(rows->counters) / sizeof(*rows->counters); i++)
		rows->counters[i] = random_count(&state);
	return rows;
}

static inline uint32_t random_mapped(const uint32_t *map, uint32_t i)
{
	return i == PROFILE_NONE ? PROFILE_NONE : map[i];
}

/* Adds the stack after its parent. */
static inline void random_add_stack(struct profile *p, const struct random_rows *rows, uint32_t i,
				    uint32_t *stacks, const uint32_t *objects,
				    const uint32_t *processes)
{
	struct profile_stack row = rows->stacks[i];

	if (stacks[i] != PROFILE_NONE)
		return;
	if (row.parent != PROFILE_NONE)
		random_add_stack(p, rows, row.parent, stacks, objects, processes);
	row.parent = random_mapped(stacks, row.parent);
	row.process = random_mapped(processes, row.process);
	row.frame.object = random_mapped(objects, row.frame.object);
	stacks[i] = (uint32_t)profile_add_stack(p, &row);
}

/* As random_add_stack(). */
static inline void random_add_stream(struct profile *p, const struct random_rows *rows, uint32_t i,
				     uint32_t *streams, const uint32_t *objects,
				     const uint32_t *processes)
{
	struct profile_stream row = rows->streams[i];

	if (streams[i] != PROFILE_NONE)
		return;
	if (row.parent != PROFILE_NONE)
		random_add_stream(p, rows, row.parent, streams, objects, processes);
	row.parent = random_mapped(streams, row.parent);
	row.process = random_mapped(processes, row.process);
	row.from.object = random_mapped(objects, row.from.object);
	row.to.object = random_mapped(objects, row.to.object);
	streams[i] = (uint32_t)profile_add_stream(p, &row);
}

/* Adds all rows to @p, table by table, each in the order that @shuffle gives (NULL: as they are).
 */
static inline void random_add_rows(struct profile *p, const struct random_rows *rows,
				   uint64_t *shuffle)
{
	uint32_t order[N_RANDOM_ROWS], objects[N_RANDOM_OBJECTS], processes[N_RANDOM_PROCESSES];
	uint32_t stacks[N_RANDOM_STACKS], streams[N_RANDOM_STACKS];

	random_order(order, N_RANDOM_OBJECTS, shuffle);
	for (size_t i = 0; i < N_RANDOM_OBJECTS; i++)
		objects[order[i]] = (uint32_t)profile_add_object(p, &rows->objects[order[i]]);
	random_order(order, N_RANDOM_PROCESSES, shuffle);
	for (size_t i = 0; i < N_RANDOM_PROCESSES; i++)
		processes[order[i]] = (uint32_t)profile_add_process(p, &rows->processes[order[i]]);
	random_order(order, N_RANDOM_FUNCTIONS, shuffle);
	for (size_t i = 0; i < N_RANDOM_FUNCTIONS; i++) {
		struct profile_function row = rows->functions[order[i]];

		row.object = random_mapped(objects, row.object);
		profile_add_function(p, &row);
	}
	random_order(order, N_RANDOM_STACKS, shuffle);
	for (size_t i = 0; i < N_RANDOM_STACKS; i++)
		stacks[i] = streams[i] = PROFILE_NONE;
	for (size_t i = 0; i < N_RANDOM_STACKS; i++)
		random_add_stack(p, rows, order[i], stacks, objects, processes);
	for (size_t i = 0; i < N_RANDOM_STACKS; i++)
		random_add_stream(p, rows, order[i], streams, objects, processes);
	random_order(order, N_RANDOM_ROWS, shuffle);
	for (size_t i = 0; i < N_RANDOM_ROWS; i++) {
		struct profile_branch branch = rows->branches[order[i]];
		struct profile_block block = rows->blocks[order[i]];

		branch.process = random_mapped(processes, branch.process);
		branch.from.object = random_mapped(objects, branch.from.object);
		branch.to.object = random_mapped(objects, branch.to.object);
		profile_add_branch(p, &branch);
		block.process = random_mapped(processes, block.process);
		block.object = random_mapped(objects, block.object);
		profile_add_block(p, &block);
	}
}

/* The finalized profile of @seed, its rows added in the order of @shuffle (0: as they are). */
static inline struct profile *random_profile(uint64_t seed, uint64_t shuffle)
{
	static const char *const modes[] = { NULL, "recording", "branches" };
	struct random_rows *rows = random_rows_new(seed);
	uint64_t state = shuffle * 2 + 1;
	struct profile *p = NULL;
	size_t i = 0;
	int r;

	r = profile_new(&p);
	assert(r == 0);
	p->info.mode = profile_string(p, modes[rows->counters[0] % 3], &r);
	p->info.event = profile_string(p, modes[rows->counters[1] % 2], &r);
	p->info.n_cpus = (uint32_t)rows->counters[2] % 2;
	p->info.start_ns = rows->counters[3] % 3;
	p->info.end_ns = rows->counters[4] % 5;
#define X(name, what) p->counters.name = rows->counters[i++];
	PROFILE_COUNTERS(X)
#undef X
	random_add_rows(p, rows, shuffle ? &state : NULL);
	r = profile_finalize(p);
	assert(r == 0);
	free(rows);
	return p;
}

/* Whose rows are all of one user, the unknown one. */
static inline struct profile *random_profile_of_one_user(uint64_t seed)
{
	struct profile *p = random_profile(seed, 0);
	int r;

	for (size_t i = 0; i < p->n_processes; i++)
		p->processes[i].uid = UINT32_MAX;
	p->finalized = false;
	r = profile_finalize(p);
	assert(r == 0);
	return r == 0 ? p : NULL;
}
