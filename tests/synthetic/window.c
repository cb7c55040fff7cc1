/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/synthetic/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

const struct synthetic_shape synthetic_idle = { "idle", 5, 8, 60, 120, 0, 0, 12, 0 };
const struct synthetic_shape synthetic_busy = { "busy", 50, 60, 1500, 2000, 5000, 5000, 12, 0 };
const struct synthetic_shape synthetic_renamed = { "renamed", 5, 8, 60, 120, 0, 0, 12, 8 };

#define FUNCTION_BYTES 256u
#define CHANGING       20u /* one key in 20 is of this window only */

static void check(int64_t r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", strerror((int)-r));
	exit(1);
}

/* A random number for key @i: the same in each window, but for one in CHANGING. */
static uint64_t key_random(uint32_t i, uint32_t window)
{
	uint64_t state = 0x9e3779b97f4a7c15 * (i + 1);

	if (next_random(&state) % CHANGING == 0)
		state += (uint64_t)window * 0xd1342543de82ef95;
	return next_random(&state) >> 8;
}

static struct location key_place(const struct synthetic_shape *shape, uint32_t i, uint32_t window)
{
	uint64_t random = key_random(i, window);
	uint32_t function = (uint32_t)(random % shape->n_functions);

	return (struct location){ function % shape->n_objects,
				  0x1000 + function * FUNCTION_BYTES + (random >> 32) % 8 * 16 };
}

static const char *program_path(const struct synthetic_shape *shape, uint32_t window)
{
	if (shape->renamed == 0)
		return "/usr/sbin/a-worker";
	return window < shape->renamed ? "/opt/alpha" : "/srv/beta";
}

/* The program as the first object, which only its functions distinguish from its other file.
 */
static void add_program(struct profile *p, const struct synthetic_shape *shape, uint32_t window)
{
	struct profile_object object = { .path = program_path(shape, window), .n_build_id = 20 };

	object.inode = window < shape->renamed ? 90 : 91;
	object.build_id[0] = (uint8_t)object.inode;
	check(profile_add_object(p, &object));
}

static void add_short_rows(struct profile *p, const struct synthetic_shape *shape, uint32_t window,
			   uint64_t *state)
{
	const char *program = program_path(shape, window);
	char text[100];

	if (shape->renamed > 0)
		add_program(p, shape, window);
	for (uint32_t i = shape->renamed > 0; i < shape->n_objects; i++) {
		struct profile_object object = { .path = text, .inode = 100 + i, .n_build_id = 20 };

		snprintf(text, sizeof(text), "/usr/lib/x86_64-linux-gnu/libsomething-%u.so.1", i);
		memcpy(object.build_id, &i, sizeof(i));
		object.build_id[19] = 1;
		check(profile_add_object(p, &object));
	}
	for (uint32_t i = 0; i < shape->n_processes; i++) {
		struct profile_process process = { .pid = (int32_t)(1000 + i),
						   .comm = "worker",
						   .executable = program,
						   .unit = text,
						   .uid = 1000,
						   .samples = next_random(state) % 100 };

		snprintf(text, sizeof(text), "some-service-%u.service", i % 10);
		check(profile_add_process(p, &process));
	}
	for (uint32_t i = 0; i < shape->n_functions; i++) {
		struct profile_function function = { .object = i % shape->n_objects,
						     .start = 0x1000 + i * FUNCTION_BYTES,
						     .size = FUNCTION_BYTES,
						     .name = text };

		snprintf(text, sizeof(text), "some_module_do_a_thing_%u(struct context *, int)", i);
		check(profile_add_function(p, &function));
	}
}

static void add_stacks(struct profile *p, const struct synthetic_shape *shape, uint32_t window,
		       uint64_t *state)
{
	for (uint32_t i = 0; i < shape->n_nodes; i++) {
		bool is_leaf = i % shape->depth == shape->depth - 1 || next_random(state) % 3 == 0;
		struct profile_stack stack = {
			.parent = i % shape->depth ? i - 1 : PROFILE_NONE,
			.process = i / shape->depth % shape->n_processes,
			.frame = key_place(shape, i, i % shape->depth > 8 ? window : 0),
			.samples = is_leaf ? 1 + next_random(state) % 20 : 0,
		};

		p->counters.samples += stack.samples;
		stack.weight = stack.samples * 10101010;
		check(profile_add_stack(p, &stack));
	}
}

static void add_branches(struct profile *p, const struct synthetic_shape *shape, uint32_t window,
			 uint64_t *state)
{
	for (uint32_t i = 0; i < shape->n_branches; i++) {
		struct profile_branch branch = {
			.process = i % shape->n_processes,
			.from = key_place(shape, 2 * i, window),
			.to = key_place(shape, 2 * i + 1, window),
			.taken = 1 + next_random(state) % 300,
			.mispredicted = next_random(state) % 4,
			.cycles = next_random(state) % 10000,
			.cycles_rows = next_random(state) % 300,
		};

		p->counters.rows += branch.taken;
		p->counters.rows_counted += branch.taken;
		check(profile_add_branch(p, &branch));
	}
	for (uint32_t i = 0; i < shape->n_blocks; i++) {
		struct location start = key_place(shape, 2 * i + 1, window);
		struct profile_block block = {
			.process = i % shape->n_processes,
			.object = start.object,
			.start = start.offset,
			.end = start.offset + 16,
			.runs = 1 + next_random(state) % 300,
			.cycles = next_random(state) % 10000,
			.cycles_rows = next_random(state) % 300,
		};

		p->counters.runs += block.runs;
		p->counters.runs_counted += block.runs;
		check(profile_add_block(p, &block));
	}
}

struct profile *synthetic_profile(const struct synthetic_shape *shape, uint32_t window)
{
	uint64_t state = window + 1;
	struct profile *p = NULL;
	int r;

	check(profile_new(&p));
	p->info.mode = profile_string(p, "stack+branch", &r);
	p->info.event = profile_string(p, "cycles", &r);
	p->info.hostname = profile_string(p, "a-machine", &r);
	p->info.start_ns = (uint64_t)window * 10000000000;
	p->info.end_ns = p->info.start_ns + 9999999999;
	p->counters.weight = 10101010000;
	p->counters.unmapped = 3;
	add_short_rows(p, shape, window, &state);
	add_stacks(p, shape, window, &state);
	add_branches(p, shape, window, &state);
	check(profile_finalize(p));
	return p;
}
