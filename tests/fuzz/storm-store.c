/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * storm-store SECONDS [SEED]: opens, reads and extends databases that somebody has damaged: bytes
 * and pages at random, or rows by SQL. Each in a process of its own, which must neither crash nor
 * hang nor grow. A failure prints the seed that repeats it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

#define N_WINDOWS   12
#define MAX_SECONDS 20u /* for one database, also under sanitizers */
#define MAX_RSS_KIB (256L << 10)

/* The memory of a sanitizer is not the store's. */
#if defined(__SANITIZE_ADDRESS__)
#define BOUNDS_RSS false
#else
#define BOUNDS_RSS true
#endif

static const char *const columns[][2] = {
	{ "window", "id" },
	{ "window", "start_us" },
	{ "window", "length_us" },
	{ "window", "horizon" },
	{ "window", "source" },
	{ "window", "mode" },
	{ "process_count", "process" },
	{ "process", "pid" },
	{ "process", "uid" },
	{ "process", "comm" },
	{ "string", "text" },
	{ "string", "seen" },
	{ "object", "kind" },
	{ "object", "build_id" },
	{ "function", "object" },
	{ "function", "start" },
	{ "function", "size" },
	{ "place", "object" },
	{ "place", "function" },
	{ "place", "seen" },
	{ "stack", "parent" },
	{ "stack", "place" },
	{ "stack", "seen" },
	{ "stack", "id" },
	{ "stream", "parent" },
	{ "stack_count", "caller" },
	{ "stack_count", "place" },
	{ "stream_count", "stream" },
	{ "branch_count", "kind" },
	{ "block_count", "last" },
	{ "stack_count", "samples" },
	{ "function_counts", "counts" },
	{ "object_counts", "counts" },
	{ "function_counts", "processes" },
	{ "object_counts", "processes" },
	{ "variance", "variances" },
	{ "counter", "name" },
	{ "counter_count", "value" },
	{ "user_rows", "rows" },
	{ "user_rows", "uid" },
	{ "user_rows", "window" },
	{ "window_first", "stack" },
	{ "window_first", "place" },
	{ "window_first", "window" },
};

static const char *const values[] = {
	"0",
	"1",
	"-1",
	"9223372036854775807",
	"-9223372036854775807 - 1",
	"4294967296",
	"2147483648",
	"random()",
	"abs(random() % 100)",
	"hex(randomblob(40))",
	"randomblob(40)",
	"zeroblob(1000000)",
	"NULL",
};

#define RANDOM_OF(array, state) (array)[random_below(state, sizeof(array) / sizeof(*(array)))]

static void make_database(const char *path)
{
	struct store *store = temp_store_open(path, 0);

	for (uint64_t i = 1; i <= N_WINDOWS; i++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(i, 0);
		struct window window = temp_store_window(i);

		temp_store_add(store, &window, p);
	}
	store_free(store);
}

/* Changes some rows; what the tables do not allow does not happen. */
static void change_rows(const char *path, uint64_t *state)
{
	sqlite3 *db = temp_store_connect(path);
	uint32_t n = 1 + random_below(state, 6);
	char sql[300];

	for (uint32_t i = 0; i < n; i++) {
		const char *const *column = RANDOM_OF(columns, state);

		if (random_below(state, 5) == 0)
			snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE random() %% %u = 0",
				 column[0], 1 + (unsigned int)random_below(state, 20));
		else
			snprintf(sql, sizeof(sql),
				 "UPDATE OR IGNORE %s SET %s = %s WHERE random() %% %u = 0",
				 column[0], column[1], RANDOM_OF(values, state),
				 1 + (unsigned int)random_below(state, 20));
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	sqlite3_close(db);
}

static void change_bytes(const char *path, uint64_t *state)
{
	FILE *f = fopen(path, "r+e");
	uint64_t n_bytes = temp_store_file_bytes(path);
	uint32_t n = 1 + random_below(state, 8);

	TEMP_STORE_CHECK(f && n_bytes > 0, "%s", path);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_run = random_below(state, 3) == 0 ? 4096 : 1 + random_below(state, 4);

		fseek(f, (long)random_below(state, (uint32_t)n_bytes), SEEK_SET);
		while (n_run-- > 0)
			fputc((int)(next_random(state) >> 24 & 0xff), f);
	}
	fclose(f);
	if (random_below(state, 8) == 0)
		TEMP_STORE_CHECK(truncate(path, random_below(state, (uint32_t)n_bytes)) == 0, "%s",
				 path);
}

static int on_window(const struct window *window, void *userdata)
{
	return 0;
}

static void read_all(struct store *store)
{
	struct profile_filter filter = PROFILE_FILTER_INIT;
	struct fault fault;

	for (int64_t id = 0; id <= N_WINDOWS + 1; id++) {
		_cleanup_(function_sum_freep) struct function_sum *sum = NULL;
		_cleanup_(profile_freep) struct profile *p = NULL;
		struct window window = { .id = id };

		TEMP_STORE_CHECK(function_sum_new(&sum) == 0, "no memory");
		store_read_functions(store, &window, &filter, sum, &fault);
		if (id % 3 == 0)
			store_for_each(store, 0, UINT64_MAX, on_window, NULL, &fault);
		store_read(store, id, &p, NULL, &fault);
	}
}

static uint64_t passed_us;

static uint64_t later(void)
{
	return clock_us(CLOCK_BOOTTIME) + passed_us;
}

static void merge_aged(struct store *store)
{
	const struct store_settings settings = {
		.tiers = { .rows = { { 10000000, 20000000 }, { 60000000, 3600000000 } }, .n = 2 },
	};
	struct fault fault;

	store_set_settings(store, &settings);
	for (int i = 0; i < N_WINDOWS; i++)
		store_roll(store, &fault);
}

/* What the daemon does with it, hours of it: at last windows can be added. */
static void use(const char *path, uint64_t *state)
{
	struct store *store = temp_store_open(path, random_below(state, 2) ? 100 << 10 : 0);
	struct fault fault = { 0 };
	int64_t id = 0;
	int r = 0;

	store_set_clock(store, later);
	if (random_below(state, 2))
		read_all(store);
	for (uint64_t i = 0; i < 6; i++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(i, 0);
		struct window window = temp_store_window(N_WINDOWS + i);

		passed_us += STORE_HEAL_US;
		r = store_add(store, &window, p, &id, &fault);
	}
	TEMP_STORE_CHECK(r == 0, "the last window could not be added: %s", fault.text);
	merge_aged(store);
	read_all(store);
	store_free(store);
}

/* In a process of its own. */
static _Noreturn void try_seed(const char *from, const char *folder, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;
	struct rusage usage;
	char path[400], command[1600];

	alarm(MAX_SECONDS);
	snprintf(path, sizeof(path), "%s/damaged.db", folder);
	snprintf(command, sizeof(command), "rm -f '%s'*; cp '%s' '%s'", path, from, path);
	TEMP_STORE_CHECK(system(command) == 0, "%s", command);
	if (random_below(&state, 2))
		change_rows(path, &state);
	else
		change_bytes(path, &state);
	use(path, &state);
	getrusage(RUSAGE_SELF, &usage);
	TEMP_STORE_CHECK(!BOUNDS_RSS || usage.ru_maxrss < MAX_RSS_KIB, "%ld KiB of memory",
			 usage.ru_maxrss);
	exit(0);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL) * 1000;
	uint64_t n = 0, end;
	struct temp_store stored;
	int status = 0;

	if (argc < 2)
		return fprintf(stderr, "usage: storm-store SECONDS [SEED]\n"), 2;
	end = clock_us(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * 1000000;
	temp_store_init(&stored);
	make_database(stored.path);
	do {
		pid_t pid = fork();

		if (pid == 0)
			try_seed(stored.path, stored.folder, seed);
		TEMP_STORE_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "no process");
		if (status != 0)
			fprintf(stderr, "seed %llu: status %#x\n", (unsigned long long)seed,
				(unsigned int)status);
		seed++;
		n++;
	} while (status == 0 && clock_us(CLOCK_MONOTONIC) < end);
	temp_store_done(&stored);
	printf("%llu databases\n", (unsigned long long)n);
	return status != 0;
}
