/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows with all tables, of two objects: two servers that stay, compilers and shells that are in
 * one window each. In each window are the same frequent rows, and few of many rare ones. A function
 * has one row of each table, so that a row is known by it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "tests/support/random.h"

#define N_RARE  250 /* functions of an object that are seldom drawn */
#define N_HEAVY 1
#define N_SITES (N_RARE + N_HEAVY) /* functions of an object, each with one row of a table */
#define N_ROOTS 40                 /* newest branches of streams */
#define N_KEYS  (N_SITES + N_ROOTS)
#define N_DRAWN 14 /* rare rows of each table in a window */

enum { SERVER, DATABASE, COMPILER, SHELL, N_PROGRAMS };
enum { N_OBJECTS = 2 };

static const char *const comms[N_PROGRAMS] = { "server", "database", "cc1", "sh" };
static const char *const object_paths[N_OBJECTS] = { "/bin/x", "/lib/y" };

/* Of each process of a window: there are two compilers. */
static const int programs[] = { SERVER, DATABASE, COMPILER, COMPILER, SHELL };

/* A row of a window, of whatever table. */
struct draw {
	uint32_t process, object;
	uint64_t site, n;
};

static inline bool branch_window_is_alive(int32_t pid)
{
	return pid == SERVER + 1 || pid == DATABASE + 1;
}

static inline uint64_t start_of(uint64_t site)
{
	return site * 0x1000;
}

static inline void draw_stack(struct profile *p, const struct draw *row)
{
	struct profile_stack stack = {
		.parent = PROFILE_NONE,
		.process = row->process,
		.frame = { row->object, start_of(row->site % 8) + 0x200 },
	};
	int64_t caller = profile_add_stack(p, &stack);

	assert_true(caller >= 0);
	stack.parent = (uint32_t)caller;
	stack.frame.offset = start_of(row->site) + 0x100;
	stack.samples = row->n;
	stack.weight = row->n * 10;
	assert_true(profile_add_stack(p, &stack) >= 0);
	p->processes[row->process].samples += row->n;
	p->counters.samples += row->n;
	p->counters.weight += row->n * 10;
}

/* One or two branches long. */
static inline void draw_stream(struct profile *p, const struct draw *row)
{
	uint64_t root = start_of(row->site % N_ROOTS);
	struct profile_stream stream = {
		.parent = PROFILE_NONE,
		.process = row->process,
		.from = { row->object, root + 0x20 },
		.to = { row->object, root + 0x30 },
		.hits = row->n % 3 ? 0 : row->n,
		.cycles = row->n * 7,
	};
	int64_t newest = profile_add_stream(p, &stream);

	assert_true(newest >= 0);
	stream.parent = (uint32_t)newest;
	stream.from.offset = start_of(row->site) + 0x40;
	stream.to.offset = start_of(row->site) + 0x50;
	stream.hits = row->n - stream.hits;
	stream.cycles = stream.hits * 3;
	assert_true(profile_add_stream(p, &stream) >= 0);
	p->counters.streams += row->n;
}

/* Calls of the next function, some of them in the other object. */
static inline uint32_t called_object(uint32_t object, uint64_t site)
{
	return site % 3 ? object : 1 - object;
}

static inline uint64_t called_site(uint64_t site)
{
	return (site + 1) % N_SITES;
}

static inline void draw_branch(struct profile *p, const struct draw *row)
{
	const struct profile_branch branch = {
		.process = row->process,
		.kind = BRANCH_CALL,
		.from = { row->object, start_of(row->site) + 0x10 },
		.to = { called_object(row->object, row->site), start_of(called_site(row->site)) },
		.taken = row->n,
		.mispredicted = row->n % 2,
		.predicted = row->n / 2,
		.aborted = row->n % 5,
		.cycles = row->n * 11,
		.cycles_rows = row->n / 3,
	};

	assert_true(profile_add_branch(p, &branch) >= 0);
	p->counters.rows += branch.taken;
	p->counters.rows_counted += branch.taken;
	p->counters.cycles += branch.cycles;
}

static inline void draw_block(struct profile *p, const struct draw *row)
{
	const struct profile_block block = {
		.process = row->process,
		.object = row->object,
		.start = start_of(row->site),
		.end = start_of(row->site) + 0x60,
		.runs = row->n,
		.cycles = row->n * 13,
		.cycles_rows = row->n / 4,
	};

	assert_true(profile_add_block(p, &block) >= 0);
	p->counters.runs += block.runs;
	p->counters.runs_counted += block.runs;
}

/* The frequent rows of each process and object, and rare ones at random, those of low numbers more
 * often than others. */
static inline void draw_rows(struct profile *p, uint64_t *state,
			     void (*draw)(struct profile *p, const struct draw *row))
{
	for (uint32_t process = 0; process < ARRAY_SIZE(programs); process++)
		for (uint32_t k = 0; k < N_OBJECTS * N_HEAVY; k++) {
			const struct draw row = { process, k / N_HEAVY, N_RARE + k % N_HEAVY,
						  50 + random_below(state, 50) };

			draw(p, &row);
		}
	for (int k = 0; k < N_DRAWN; k++) {
		const struct draw row = { random_below(state, ARRAY_SIZE(programs)),
					  random_below(state, N_OBJECTS),
					  random_below(state, 1 + random_below(state, N_RARE)),
					  1 + random_below(state, 9) };

		draw(p, &row);
	}
}

static inline void add_objects(struct profile *p)
{
	for (uint32_t i = 0; i < N_OBJECTS; i++) {
		const struct profile_object object = { .kind = OBJECT_FILE,
						       .path = object_paths[i] };

		assert_int_equal(profile_add_object(p, &object), i);
		for (uint64_t site = 0; site < N_SITES; site++) {
			const struct profile_function function = { i, start_of(site), 0x1000, "f",
								   0 };

			assert_true(profile_add_function(p, &function) >= 0);
		}
	}
}

static inline void add_processes(struct profile *p, uint64_t i)
{
	for (size_t k = 0; k < ARRAY_SIZE(programs); k++) {
		int program = programs[k];
		const struct profile_process process = {
			.pid = program <= DATABASE ? program + 1 : (int32_t)(1000 + i * 8 + k),
			.comm = comms[program],
			.executable = comms[program],
			.uid = 1000 + program % 2,
		};

		assert_int_equal(profile_add_process(p, &process), k);
	}
}

/* Window @i, the same whenever it is made. */
static inline struct profile *branch_window_make(uint64_t i)
{
	uint64_t state = i * 2 + 1;
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	add_objects(p);
	add_processes(p, i);
	draw_rows(p, &state, draw_stack);
	draw_rows(p, &state, draw_stream);
	draw_rows(p, &state, draw_branch);
	draw_rows(p, &state, draw_block);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}
