/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long the store occupies the event loop at most, with a database full of windows: usual ones,
 * and ones as large as a user can make them in a minute.
 *
 *     measure-stalls FILE      (which is written anew)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/synthetic/window.h"

#define MAX_BYTES  (64ull << 20)
#define BATCH      64    /* as daemon/api/query.c has it */
#define BATCH_ROWS 50000 /* likewise */

static const struct synthetic_shape huge = { "huge", 50, 60, 20000, 180000, 180000, 180000, 12, 0 };

static const struct {
	const struct synthetic_shape *shape;
	uint32_t n_windows;
} measured[] = {
	{ &synthetic_idle, 20000 },
	{ &synthetic_busy, 600 },
	{ &huge, 12 },
};

static double now_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void check(int64_t r, const struct fault *fault)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", fault ? fault->text : strerror((int)-r));
	exit(1);
}

/* The slowest call of a kind, in milliseconds: of the CPU, and on the clock. */
struct slowest {
	const char *what;
	double cpu, real, cpu_start, real_start;
	unsigned int n;
};

static void begin(struct slowest *s)
{
	s->cpu_start = now_ms(CLOCK_PROCESS_CPUTIME_ID);
	s->real_start = now_ms(CLOCK_MONOTONIC);
}

static void end(struct slowest *s)
{
	s->cpu = MAX(s->cpu, now_ms(CLOCK_PROCESS_CPUTIME_ID) - s->cpu_start);
	s->real = MAX(s->real, now_ms(CLOCK_MONOTONIC) - s->real_start);
	s->n++;
}

static void print(const struct slowest *s)
{
	printf("  %s: at most %.1f ms of the CPU, %.1f ms on the clock, of %u calls\n", s->what,
	       s->cpu, s->real, s->n);
}

static uint64_t file_bytes(const char *path, const char *part)
{
	char name[4096];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", path, part);
	return stat(name, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

static void fill(struct store *store, const struct synthetic_shape *shape, uint32_t n_windows)
{
	struct slowest add = { .what = "store_add()" };

	for (uint32_t i = 0; i < n_windows; i++) {
		_cleanup_(profile_freep) struct profile *p = synthetic_profile(shape, i);
		struct window window = { .start_us = i * 10000000ull,
					 .length_us = 10000000,
					 .samples = 1000,
					 .mode = "stack+branch" };
		struct fault fault;
		int64_t id;
		int r;

		do { /* faster than the disk: then the log is full */
			begin(&add);
			r = store_add(store, &window, p, &id, &fault);
			end(&add);
			if (r == -ENOSPC)
				usleep(10000);
		} while (r == -ENOSPC);
		check(r, &fault);
	}
	print(&add);
}

struct list {
	struct window *rows;
	size_t n;
};

static int on_window(const struct window *window, void *userdata)
{
	struct list *list = userdata;

	list->rows = reallocarray(list->rows, list->n + 1, sizeof(*window));
	if (!list->rows)
		abort();
	list->rows[list->n++] = *window;
	return 0;
}

static void list_all(struct store *store, struct list *list)
{
	struct slowest all = { .what = "store_for_each()" },
		       status = { .what = "store_get_status()" };
	struct store_status unused;
	struct fault fault;

	for (int i = 0; i < 3; i++) {
		list->n = 0;
		begin(&all);
		check(store_for_each(store, 0, UINT64_MAX, on_window, list, &fault), &fault);
		end(&all);
		begin(&status);
		store_get_status(store, &unused);
		end(&status);
	}
	print(&all);
	print(&status);
}

static void read_profiles(struct store *store, const struct list *list)
{
	struct slowest read = { .what = "store_read_many()" };
	size_t n;

	for (size_t i = 0; i < list->n; i += n) {
		_cleanup_(profile_freep) struct profile *p = NULL;
		bool found[BATCH];
		const struct store_batch batch = { .windows = &list->rows[i],
						   .found = found,
						   .n = MIN(list->n - i, (size_t)BATCH),
						   .max_rows = BATCH_ROWS };
		struct fault fault;

		begin(&read);
		check(store_read_many(store, &batch, &n, &p, &fault), &fault);
		end(&read);
	}
	print(&read);
}

static void read_functions(struct store *store, const struct list *list)
{
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	_cleanup_(function_sum_freep) struct function_sum *sum = NULL;
	struct slowest read = { .what = "store_read_functions()" };

	check(function_sum_new(&sum), NULL);
	for (size_t i = 0; i < list->n; i++) {
		struct fault fault;

		begin(&read);
		check(store_read_functions(store, &list->rows[i], &filter, sum, &fault), &fault);
		end(&read);
	}
	print(&read);
}

static void measure(const struct synthetic_shape *shape, uint32_t n_windows, const char *path)
{
	const struct store_settings settings = { .max_bytes = MAX_BYTES };
	_cleanup_(store_freep) struct store *store = NULL;
	struct list list = { 0 };
	struct fault fault;

	unlink(path);
	check(store_open(&store, path, &settings, &fault), &fault);
	printf("%s windows:\n", shape->name);
	fill(store, shape, n_windows);
	list_all(store, &list);
	printf("  %zu windows in %llu MiB, log of %llu MiB\n", list.n,
	       (unsigned long long)file_bytes(path, "") >> 20,
	       (unsigned long long)file_bytes(path, "-wal") >> 20);
	read_profiles(store, &list);
	read_functions(store, &list);
	free(list.rows);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: measure-stalls FILE\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++)
		measure(measured[i].shape, measured[i].n_windows, argv[1]);
	return 0;
}
