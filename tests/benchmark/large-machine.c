/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/benchmark/large-machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "daemon/retention/merge.h"
#include "tests/support/random.h"

#define SECOND     1000000ULL
#define RATE       (64 * 99) /* samples a second */
#define N_LONG     300
#define N_PROGRAMS 60
#define N_SHORT    20                      /* processes a second, */
#define FIRST_PID  LARGE_MACHINE_FIRST_PID /* from this on */
#define N_TOOLS    8                       /* their programs */
#define DEPTH      20
#define N_PATHS    12 /* of a long-lived process in a window, of those that it has */
#define ALL_PATHS  40
#define N_SITES    24 /* branches of a program in a window; as many blocks, half as many streams */

static void check(int64_t r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", strerror((int)-r));
	exit(1);
}

bool large_machine_has(int32_t pid)
{
	return pid < FIRST_PID;
}

/* One of @n, where the first ones come far more often. */
static uint32_t skewed(uint64_t *state, uint32_t n)
{
	return (uint32_t)(next_random(state) % (1 + next_random(state) % n));
}

/* Of each program: 200 functions, of 64 places. */
static void add_objects(struct profile *p)
{
	for (uint32_t i = 0; i < N_PROGRAMS + N_TOOLS; i++) {
		char text[64];
		struct profile_object object = { .path = text, .inode = 1 + i, .n_build_id = 20 };

		snprintf(text, sizeof(text), "/usr/bin/program-%u", i);
		memcpy(object.build_id, &(uint32_t){ i + 1 }, 4);
		check(profile_add_object(p, &object));
		for (uint32_t k = 0; k < 200; k++) {
			struct profile_function function = {
				.object = i, .start = k << 10, .size = 1 << 10, .name = text
			};

			snprintf(text, sizeof(text), "program_%u_does_thing_%u(int)", i, k);
			check(profile_add_function(p, &function));
		}
	}
}

static uint32_t add_process(struct profile *p, int32_t pid, uint32_t program, uint64_t samples)
{
	char path[64], comm[16], unit[64];
	struct profile_process process = { .pid = pid,
					   .comm = comm,
					   .executable = path,
					   .unit = unit,
					   .uid = 1000 + program % 10,
					   .samples = samples };
	int64_t i;

	snprintf(path, sizeof(path), "/usr/bin/program-%u", program);
	snprintf(comm, sizeof(comm), "program-%u", program);
	snprintf(unit, sizeof(unit), "service-%u.service", program % 30);
	i = profile_add_process(p, &process);
	check(i);
	return (uint32_t)i;
}

/* The frame at @depth of path @path of a program: paths part at half of their depth. */
static struct location frame_of(uint32_t program, uint32_t path, uint32_t depth)
{
	uint64_t state = 1 + program * 1000003ULL + depth * 101 +
			 (depth < DEPTH / 2 ? path % 4 : path) * 7919ULL;

	return (struct location){ program, next_random(&state) % (200 << 10) };
}

/* The nodes of a process: the upper half of its paths is one of four. */
struct nodes {
	uint32_t upper[4], samples[ALL_PATHS];
};

static uint32_t add_frames(struct profile *p, uint32_t process, uint32_t program, uint32_t path,
			   struct profile_stack *stack)
{
	uint32_t from = stack->parent == PROFILE_NONE ? 0 : DEPTH / 2;

	for (uint32_t d = from; d < from + DEPTH / 2; d++) {
		bool is_leaf = d + 1 == DEPTH;
		const struct profile_stack node = {
			.parent = stack->parent,
			.process = process,
			.frame = frame_of(program, path, d),
			.samples = is_leaf ? stack->samples : 0,
			.weight = is_leaf ? stack->samples * 10101010 : 0,
		};
		int64_t i = profile_add_stack(p, &node);

		check(i);
		stack->parent = (uint32_t)i;
	}
	return stack->parent;
}

static void add_path(struct profile *p, uint32_t process, uint32_t program, uint32_t path,
		     struct nodes *nodes)
{
	struct profile_stack stack = { .parent = PROFILE_NONE };
	uint32_t *upper = &nodes->upper[path % 4];

	if (*upper == PROFILE_NONE)
		*upper = add_frames(p, process, program, path % 4, &stack);
	stack = (struct profile_stack){ .parent = *upper, .samples = nodes->samples[path] };
	add_frames(p, process, program, path, &stack);
}

static void add_branches(struct large_machine *machine, struct profile *p, uint32_t process,
			 uint32_t program, uint64_t samples)
{
	for (uint32_t i = 0; i < N_SITES; i++) {
		uint32_t site = skewed(&machine->state, 400);
		struct location from = frame_of(program, site, 50),
				to = frame_of(program, site, 51);
		uint64_t taken = 1 + samples * 16 / (1 + site);
		const struct profile_branch branch = { .process = process,
						       .kind = BRANCH_COND,
						       .from = from,
						       .to = to,
						       .taken = taken,
						       .predicted = taken,
						       .cycles = taken * 5,
						       .cycles_rows = taken };
		const struct profile_block block = { .process = process,
						     .object = program,
						     .start = to.offset,
						     .end = to.offset + 32,
						     .runs = taken,
						     .cycles = taken * 5,
						     .cycles_rows = taken };

		check(profile_add_branch(p, &branch));
		check(profile_add_block(p, &block));
		p->counters.rows += taken;
		p->counters.rows_counted += taken;
		p->counters.cycles += taken * 5;
		p->counters.runs += taken;
		p->counters.runs_counted += taken;
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t path = skewed(&machine->state, ALL_PATHS), parent = PROFILE_NONE;

		for (uint32_t d = 0; d < N_SITES / 4; d++) {
			const struct profile_stream stream = {
				.parent = parent,
				.process = process,
				.from = frame_of(program, path, 60 + d),
				.to = frame_of(program, path, 80 + d),
				.hits = d + 1 == N_SITES / 4 ? 1 + samples / 2 : 0,
				.cycles = samples
			};
			int64_t at = profile_add_stream(p, &stream);

			check(at);
			parent = (uint32_t)at;
			p->counters.streams += stream.hits;
		}
	}
}

/* Paths of a process with @samples in all. */
static void add_samples(struct large_machine *machine, struct profile *p, uint32_t process,
			uint32_t program, uint32_t n_paths, uint64_t samples)
{
	struct nodes nodes = { .samples = { 0 } };

	memset(nodes.upper, 0xff, sizeof(nodes.upper)); /* PROFILE_NONE */
	for (uint32_t i = 0; i < n_paths; i++)
		nodes.samples[skewed(&machine->state, ALL_PATHS)] +=
			(uint32_t)(samples / n_paths + (i == 0 ? samples % n_paths : 0));
	for (uint32_t path = 0; path < ALL_PATHS; path++)
		if (nodes.samples[path] > 0)
			add_path(p, process, program, path, &nodes);
	p->counters.samples += samples;
	p->counters.weight += samples * 10101010;
	if (machine->with_branches)
		add_branches(machine, p, process, program, samples);
}

/* As a sum is pruned; without the memory that all rows took. */
static struct profile *limit(struct large_machine *machine, struct profile *p)
{
	_cleanup_(profile_freep) struct profile *whole = p;
	struct profile *copy;

	check(profile_limit_all(p, PROFILE_ALL_TABLES,
				machine->with_branches ? STORE_SUM_ALL_ROWS : STORE_SUM_ROWS));
	check(profile_finalize(p));
	check(profile_merge(&copy, (const struct profile *const[]){ whole }, 1));
	return copy;
}

struct profile *large_machine_sample(struct large_machine *machine, uint64_t length_us)
{
	uint64_t seconds = length_us / SECOND, samples = seconds * RATE,
		 n_short = seconds * N_SHORT;
	bool is_sum = length_us > 10 * SECOND;
	uint64_t n = is_sum ? N_TOOLS : n_short;
	struct profile *p = NULL;
	int r = 0;

	check(profile_new(&p));
	p->info.mode = profile_string(p, machine->with_branches ? "stack+branch" : "stack", &r);
	p->info.n_cpus = 64;
	add_objects(p);
	for (uint32_t i = 0; i < N_LONG; i++) {
		uint64_t part = samples / 2 / N_LONG;
		uint32_t process = add_process(p, (int32_t)(1000 + i), i % N_PROGRAMS, part);

		add_samples(machine, p, process, i % N_PROGRAMS, N_PATHS, part);
	}
	for (uint64_t i = 0; i < n; i++) {
		uint32_t program = N_PROGRAMS + (uint32_t)(i % N_TOOLS), process;

		process =
			add_process(p, is_sum ? -1 : machine->next_pid++, program, samples / 2 / n);
		if (is_sum)
			p->processes[process].n_gone = n_short / N_TOOLS;
		add_samples(machine, p, process, program, is_sum ? ALL_PATHS : 2, samples / 2 / n);
	}
	check(profile_finalize(p));
	return is_sum ? limit(machine, p) : p;
}
