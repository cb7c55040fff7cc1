/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a window costs in the store: time to write it and to read it back, and bytes of the database;
 * of an idle machine and of a busy one. Each window has mostly the keys of the one before, as it is on
 * a machine that goes on with what it does.
 *
 *     measure-store FILE      (which is written anew)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "daemon/store.h"
#include "tests/support/random.h"

/* What is in a window. A table of keys is larger by the part that changes from window to window. */
struct shape {
	const char *name;
	uint32_t n_windows;
	uint32_t n_processes, n_objects, n_functions, n_nodes, n_branches, n_blocks;
	uint32_t depth; /* of the stacks */
};

static const struct shape shapes[] = {
	{ "idle", 3000, 5, 8, 60, 120, 0, 0, 12 },
	{ "busy", 200, 50, 60, 1500, 2000, 5000, 5000, 12 },
};

#define FUNCTION_BYTES 256u
#define CHANGING       20u /* one key in so many is of this window only */

static double now_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

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

static struct location key_place(const struct shape *shape, uint32_t i, uint32_t window)
{
	uint64_t random = key_random(i, window);
	uint32_t function = (uint32_t)(random % shape->n_functions);

	return (struct location){ function % shape->n_objects,
				  0x1000 + function * FUNCTION_BYTES + (random >> 32) % 8 * 16 };
}

static void add_short_rows(struct profile *p, const struct shape *shape, uint64_t *state)
{
	char text[100];

	for (uint32_t i = 0; i < shape->n_objects; i++) {
		struct profile_object object = { .path = text, .inode = 100 + i, .n_build_id = 20 };

		snprintf(text, sizeof(text), "/usr/lib/x86_64-linux-gnu/libsomething-%u.so.1", i);
		memcpy(object.build_id, &i, sizeof(i));
		object.build_id[19] = 1;
		check(profile_add_object(p, &object));
	}
	for (uint32_t i = 0; i < shape->n_processes; i++) {
		struct profile_process process = { .pid = (int32_t)(1000 + i),
						   .comm = "worker",
						   .executable = "/usr/sbin/a-worker",
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

static void add_stacks(struct profile *p, const struct shape *shape, uint32_t window,
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

		stack.weight = stack.samples * 10101010;
		check(profile_add_stack(p, &stack));
	}
}

static void add_branches(struct profile *p, const struct shape *shape, uint32_t window,
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

		check(profile_add_block(p, &block));
	}
}

static struct profile *make_profile(const struct shape *shape, uint32_t window)
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
	p->counters.samples = 1000;
	p->counters.weight = 10101010000;
	p->counters.rows = p->counters.rows_counted = shape->n_branches * 10;
	p->counters.unmapped = 3;
	add_short_rows(p, shape, &state);
	add_stacks(p, shape, window, &state);
	add_branches(p, shape, window, &state);
	check(profile_seal(p));
	return p;
}

/* Of some calls, in milliseconds: on the clock and of the CPU, all and the slowest. */
struct cost {
	double real, cpu, worst, worst_cpu;
	double real_start, cpu_start;
};

static void cost_begin(struct cost *cost)
{
	cost->real_start = now_ms(CLOCK_MONOTONIC);
	cost->cpu_start = now_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static void cost_end(struct cost *cost)
{
	double ms = now_ms(CLOCK_MONOTONIC) - cost->real_start;

	double cpu_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cost->cpu_start;

	cost->real += ms;
	cost->cpu += cpu_ms;
	cost->worst = ms > cost->worst ? ms : cost->worst;
	cost->worst_cpu = cpu_ms > cost->worst_cpu ? cpu_ms : cost->worst_cpu;
}

static void cost_print(const char *what, const struct cost *cost, uint32_t n)
{
	printf("  %s: %.2f ms, of the CPU %.2f ms; at worst %.1f ms, of the CPU %.1f ms\n", what,
	       cost->real / n, cost->cpu / n, cost->worst, cost->worst_cpu);
}

static size_t n_rows(const struct profile *p)
{
	return p->n_processes + p->n_stacks + p->n_branches + p->n_blocks;
}

/* Of the file alone: closed, so that it holds all of the log. */
static uint64_t bytes_when_closed(struct store **store, const char *path)
{
	static const struct store_settings settings;
	struct store_status status;
	struct fault fault;

	*store = store_free(*store);
	check(store_open(store, path, &settings, &fault));
	check(store_get_status(*store, &status));
	return status.n_bytes;
}

static void measure(const struct shape *shape, const char *path)
{
	_cleanup_(store_freep) struct store *store = NULL;
	struct cost write = { 0 }, read = { 0 };
	uint64_t first_bytes = 0, bytes;
	uint32_t n_first = shape->n_windows / 10;
	size_t rows = 0;

	unlink(path);
	bytes = bytes_when_closed(&store, path);
	for (uint32_t i = 0; i < shape->n_windows; i++) {
		_cleanup_(profile_freep) struct profile *p = make_profile(shape, i);
		_cleanup_(profile_freep) struct profile *back = NULL;
		struct window window = { .start_us = i * 10000000ull,
					 .length_us = 10000000,
					 .samples = 1000,
					 .mode = "stack+branch" };
		struct fault fault;
		int64_t id;

		if (i == n_first) {
			first_bytes = bytes_when_closed(&store, path);
			write = read = (struct cost){ 0 };
		}
		cost_begin(&write);
		check(store_add(store, &window, p, &id, &fault));
		cost_end(&write);
		cost_begin(&read);
		check(store_read(store, id, &back, NULL, &fault));
		cost_end(&read);
		if (!profile_equal(p, back)) {
			fprintf(stderr, "window %u is not what was written\n", i);
			exit(1);
		}
		rows = n_rows(p);
	}
	bytes = bytes_when_closed(&store, path);
	printf("%s: %zu rows a window, %u windows\n", shape->name, rows, shape->n_windows);
	cost_print("write", &write, shape->n_windows - n_first);
	cost_print("read", &read, shape->n_windows - n_first);
	printf("  first %u windows: %.0f bytes each; then %.0f bytes each, %.1f a row\n", n_first,
	       (double)first_bytes / n_first,
	       (double)(bytes - first_bytes) / (shape->n_windows - n_first),
	       (double)(bytes - first_bytes) / (shape->n_windows - n_first) / (double)rows);
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc != 2) {
		fprintf(stderr, "usage: measure-store FILE\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		measure(&shapes[i], argv[1]);
	getrusage(RUSAGE_SELF, &usage);
	printf("resident at most %ld KiB\n", usage.ru_maxrss);
	return 0;
}
