/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weeks of a large machine in the store: 64 CPUs sampled 99 times a second, 300 long-lived
 * processes and 20 short-lived ones a second, stacks 20 deep; with "branches" also branches, blocks
 * and streams. Windows are made as a builder makes them, which keeps the heavy paths only.
 *
 *     measure-weeks FILE stacks|branches DAYS FINE_HOURS
 *
 * Windows begin as long as they end up or one tier shorter, as the sum that so long a window is,
 * with as many rows as a sum keeps: as hours up to a week before the end, as windows of 10 min up
 * to the last day, as minutes up to the last FINE_HOURS, and only these as windows of 10 s. With as
 * many hours as the days have, all do. Both may be fractions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/benchmark/large-machine.h"
#include "tests/support/random.h"

#define SECOND 1000000ULL
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define START  (1700000000ULL / 86400 * DAY)
#define N_SUMS 16 /* different windows of each length above 10 s, which come again and again */

enum { OF_SECONDS, OF_MINUTE, OF_MINUTES, OF_HOUR, N_LENGTHS };

static const uint64_t lengths_us[N_LENGTHS] = { 10 * SECOND, MINUTE, 10 * MINUTE, HOUR };

static const struct store_tiers tiers = {
	.rows = { { 10 * SECOND, HOUR },
		  { MINUTE, DAY },
		  { 10 * MINUTE, 7 * DAY },
		  { HOUR, 90 * DAY } },
	.n = 4,
};

struct cost {
	double sum, worst;
	uint64_t n, n_slow; /* of more than 20 ms */
};

struct weeks {
	struct store *store;
	struct large_machine machine;
	struct profile *sums[N_LENGTHS][N_SUMS];
	/* Of a window of 10 s that is closed; of the pieces of merging and cleaning on the event
	 * loop; and of those in a thread: ms of the CPU. */
	struct cost add, roll, work;
};

static void check(int64_t r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", strerror((int)-r));
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void note(struct cost *cost, double ms)
{
	cost->sum += ms;
	cost->worst = ms > cost->worst ? ms : cost->worst;
	cost->n++;
	cost->n_slow += ms > 20;
}

/* What a piece of the work took since @before; passes @r on. */
static int note_piece(struct cost *cost, double before, int r, const struct fault *fault)
{
	if (r < 0)
		fprintf(stderr, "%s\n", fault->text);
	check(r);
	note(cost, cpu_ms() - before);
	return r;
}

/* As the daemon does it, but for its threads. */
static int step(struct weeks *weeks)
{
	_cleanup_(store_rolling_freep) struct store_rolling *rolling = NULL;
	struct fault fault = { 0 };
	double before = cpu_ms();
	int r = store_roll_begin(weeks->store, &rolling, &fault);

	r = note_piece(&weeks->roll, before, r, &fault);
	if (r != 2)
		return r;
	before = cpu_ms();
	r = store_rolling_work(rolling);
	note_piece(&weeks->work, before, r, &fault);
	do {
		before = cpu_ms();
		r = store_roll_end(weeks->store, rolling, &fault);
		note_piece(&weeks->roll, before, r, &fault);
	} while (r == 2);
	return r;
}

static void roll(struct weeks *weeks)
{
	while (step(weeks) > 0)
		;
}

static uint64_t resident_kib(void)
{
	unsigned long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &pages, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * 4;
}

static void add_profile(struct weeks *weeks, uint64_t start_us, uint64_t length_us,
			struct profile *p)
{
	struct window window = { .start_us = start_us,
				 .length_us = length_us,
				 .samples = p->counters.samples };
	struct fault fault = { 0 };
	double before;
	int64_t id;
	int r;

	p->info.start_ns = start_us * 1000;
	p->info.end_ns = (start_us + length_us) * 1000;
	snprintf(window.mode, sizeof(window.mode), "%s", p->info.mode);
	before = cpu_ms();
	r = store_add(weeks->store, &window, p, &id, &fault);
	if (r < 0)
		fprintf(stderr, "%s\n", fault.text);
	check(r);
	if (length_us == lengths_us[OF_SECONDS])
		note(&weeks->add, cpu_ms() - before);
}

static void add(struct weeks *weeks, uint64_t start_us, int length)
{
	struct profile **sum = &weeks->sums[length][next_random(&weeks->machine.state) % N_SUMS];

	if (length == OF_SECONDS) {
		_cleanup_(profile_freep) struct profile *p =
			large_machine_sample(&weeks->machine, lengths_us[length]);

		add_profile(weeks, start_us, lengths_us[length], p);
	} else {
		if (!*sum)
			*sum = large_machine_sample(&weeks->machine, lengths_us[length]);
		add_profile(weeks, start_us, lengths_us[length], *sum);
	}
	roll(weeks);
}

static int print_row(void *userdata, int n, char **values, char **names)
{
	for (int i = 0; i < n; i++)
		printf("%s%s", i == 0 ? "  " : " ", values[i] ?: "-");
	putchar('\n');
	return 0;
}

static void print(sqlite3 *db, char *sql)
{
	if (sqlite3_exec(db, sql, print_row, NULL, NULL) != SQLITE_OK)
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	sqlite3_free(sql);
}

/* What each tier has in a table, by the mean size of a row, or of its blobs. */
#define OF_TABLE(bytes)                                                                   \
	"SELECT '%s', w.length_us / 1000000 || ' s:', count(*) || ' rows,', round(" bytes \
	" / 1048576.0, 1) || ' MiB' FROM %s c JOIN window w ON w.id = c.window "          \
	"GROUP BY w.length_us / 10000000"

static void print_tiers(const char *path)
{
	static const char *const counts[] = { "process_count", "stack_count", "stream_count",
					      "branch_count", "block_count" };
	static const char *const blobs[] = { "function_counts", "object_counts" };
	sqlite3 *db = NULL;

	check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ? 0 : -EIO);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		print(db, sqlite3_mprintf(OF_TABLE("count(*) * (SELECT sum(pgsize) * 1.0 / "
						   "sum(ncell) FROM dbstat WHERE name = '%s')"),
					  counts[i], counts[i], counts[i]));
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++)
		print(db, sqlite3_mprintf(OF_TABLE("sum(length(counts) + "
						   "ifnull(length(processes), 0))"),
					  blobs[i], blobs[i]));
	print(db, sqlite3_mprintf("SELECT name || ':', round(sum(pgsize) / 1048576.0, 1) || "
				  "' MiB,', sum(ncell) FROM dbstat GROUP BY name "
				  "ORDER BY sum(pgsize) DESC LIMIT 12"));
	sqlite3_close(db);
}

static void print_cost(const char *what, struct cost *cost)
{
	if (cost->n > 0)
		printf("; %s %.2f ms, at worst %.1f, %lu of %lu above 20", what,
		       cost->sum / (double)cost->n, cost->worst, (unsigned long)cost->n_slow,
		       (unsigned long)cost->n);
	*cost = (struct cost){ 0 };
}

static void print_now(struct weeks *weeks, const char *what, uint64_t us)
{
	struct store_status status;

	store_get_status(weeks->store, &status);
	printf("%s %.2f days: %lu windows, %.1f MiB, resident %.1f MiB", what,
	       (double)us / (double)DAY, (unsigned long)status.n_windows,
	       (double)status.n_bytes / (1 << 20), (double)resident_kib() / 1024);
	print_cost("closing a window of 10 s", &weeks->add);
	print_cost("a piece of merging", &weeks->roll);
	print_cost("a sum in a thread", &weeks->work);
	putchar('\n');
	fflush(stdout);
}

/* Of a window that begins @left before the end. */
static int length_of(uint64_t left, uint64_t fine)
{
	if (left <= fine)
		return OF_SECONDS;
	if (left <= MAX(fine, 26 * HOUR))
		return OF_MINUTE;
	return left <= MAX(fine, 8 * DAY) ? OF_MINUTES : OF_HOUR;
}

int main(int argc, char **argv)
{
	const struct store_settings settings = { .tiers = tiers };
	struct weeks weeks = {
		.machine = { .state = 1, .next_pid = LARGE_MACHINE_FIRST_PID },
	};
	uint64_t end, fine, at, printed = 0;
	struct fault fault;

	if (argc != 5) {
		fprintf(stderr, "usage: measure-weeks FILE stacks|branches DAYS FINE_HOURS\n");
		return 2;
	}
	weeks.machine.with_branches = strcmp(argv[2], "branches") == 0;
	end = (uint64_t)(strtod(argv[3], NULL) * (double)DAY) / MINUTE * MINUTE;
	fine = (uint64_t)(strtod(argv[4], NULL) * (double)HOUR) / MINUTE * MINUTE;
	unlink(argv[1]);
	check(store_open(&weeks.store, argv[1], &settings, &fault));
	store_set_alive(weeks.store, large_machine_has);
	for (at = 0; at < end;) {
		uint64_t left = end - at;
		uint64_t every = left <= fine ? HOUR : left <= 26 * HOUR ? 6 * HOUR : 2 * DAY;
		int length = length_of(left, fine);

		add(&weeks, START + at, length);
		at += lengths_us[length];
		if (at - printed >= every) {
			print_now(&weeks, argv[2], at);
			printed = at;
		}
	}
	/* nothing is merged while the log is long */
	for (int i = 0; i < 500; i++) {
		usleep(10000);
		roll(&weeks);
	}
	print_now(&weeks, argv[2], at);
	weeks.store = store_free(weeks.store);
	for (size_t i = 0; i < N_LENGTHS * N_SUMS; i++)
		profile_free(weeks.sums[i / N_SUMS][i % N_SUMS]);
	print_tiers(argv[1]);
	return 0;
}
