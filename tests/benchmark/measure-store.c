/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a window costs in the store: time to write it and to read it back, and bytes of the
 * database; of an idle machine and of a busy one.
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
#include "daemon/store/store.h"
#include "tests/synthetic/window.h"

static const struct {
	const struct synthetic_shape *shape;
	uint32_t n_windows;
} measured[] = {
	{ &synthetic_idle, 3000 },
	{ &synthetic_busy, 200 },
};

/* As branchd has them by default. */
static const struct store_tiers default_tiers = {
	.rows = { { 10000000, 3600000000 },
		  { 60000000, 86400000000 },
		  { 600000000, 7 * 86400000000 },
		  { 3600000000, 90 * 86400000000 } },
	.n = 4,
};

static const struct synthetic_shape middling = {
	.name = "middling",
	.n_processes = 50,
	.n_objects = 30,
	.n_functions = 500,
	.n_nodes = 800,
	.n_branches = 600,
	.n_blocks = 550,
	.depth = 20,
};

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
	store_get_status(*store, &status);
	return status.n_bytes;
}

static void measure(const struct synthetic_shape *shape, uint32_t n_windows, const char *path)
{
	_cleanup_(store_freep) struct store *store = NULL;
	struct cost write = { 0 }, read = { 0 };
	uint64_t first_bytes = 0, bytes;
	uint32_t n_first = n_windows / 10;
	size_t rows = 0;

	unlink(path);
	bytes = bytes_when_closed(&store, path);
	for (uint32_t i = 0; i < n_windows; i++) {
		_cleanup_(profile_freep) struct profile *p = synthetic_profile(shape, i);
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
	printf("%s: %zu rows a window, %u windows\n", shape->name, rows, n_windows);
	cost_print("write", &write, n_windows - n_first);
	cost_print("read", &read, n_windows - n_first);
	printf("  first %u windows: %.0f bytes each; then %.0f bytes each, %.1f a row\n", n_first,
	       (double)first_bytes / n_first, (double)(bytes - first_bytes) / (n_windows - n_first),
	       (double)(bytes - first_bytes) / (n_windows - n_first) / (double)rows);
}

/* The number of steps until there is nothing to do. */
static uint32_t roll(struct store *store, struct cost *step)
{
	uint32_t n = 0;
	struct fault fault;
	int r;

	do {
		cost_begin(step);
		r = store_roll(store, &fault);
		check(r);
		cost_end(step);
		n++;
	} while (r > 0);
	return n;
}

/* Hours of windows, merged as they age or left as they are. */
static void measure_hours(const struct synthetic_shape *shape, uint32_t n_windows,
			  const struct store_tiers *tiers, const char *path)
{
	const struct store_settings settings = { .tiers = *tiers };
	_cleanup_(store_freep) struct store *store = NULL;
	struct cost step = { 0 };
	struct store_status status;
	uint32_t n_steps = 0;
	struct fault fault;

	unlink(path);
	check(store_open(&store, path, &settings, &fault));
	for (uint32_t i = 0; i < n_windows; i++) {
		_cleanup_(profile_freep) struct profile *p = synthetic_profile(shape, i);
		struct window window = { .start_us = i * 10000000ull,
					 .length_us = 10000000,
					 .samples = 1000,
					 .mode = "stack+branch" };
		int64_t id;

		check(store_add(store, &window, p, &id, &fault));
		n_steps += roll(store, &step);
	}
	/* while the log is long, nothing is merged: windows come faster here than it is copied */
	for (int i = 0; i < 200; i++) {
		usleep(10000);
		n_steps += roll(store, &step);
	}
	store_get_status(store, &status);
	printf("%s, %u windows: %lu left, %.1f MiB\n", shape->name, n_windows,
	       (unsigned long)status.n_windows,
	       (double)bytes_when_closed(&store, path) / (1 << 20));
	cost_print("a step of merging", &step, n_steps);
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc != 2) {
		fprintf(stderr, "usage: measure-store FILE\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++)
		measure(measured[i].shape, measured[i].n_windows, argv[1]);
	measure_hours(&synthetic_idle, 8640, &(struct store_tiers){ .n = 0 }, argv[1]);
	measure_hours(&synthetic_idle, 8640, &default_tiers, argv[1]);
	measure_hours(&middling, 480, &(struct store_tiers){ .n = 0 }, argv[1]);
	measure_hours(&middling, 480, &default_tiers, argv[1]);
	measure_hours(&synthetic_busy, 480, &(struct store_tiers){ .n = 0 }, argv[1]);
	measure_hours(&synthetic_busy, 480, &default_tiers, argv[1]);
	getrusage(RUSAGE_SELF, &usage);
	printf("resident at most %ld KiB\n", usage.ru_maxrss);
	return 0;
}
