/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A day of windows of 10 s with branch records, rolled up to minutes, tens of minutes and hours: no
 * stack, stream, branch, block or function of a process has more than the windows of 10 s counted
 * of it. What all of a process and an object lack is in their row "other"; stacks and
 * functions lack what is at the address 0. Totals and frequent rows are exact, and so are the
 * samples by name and by user.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/other.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/store/store.h"
#include "tests/support/branch-windows.h"
#include "tests/support/seeded-store.h"

#define SECOND 1000000ULL
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

#define OF_HOUR  360 /* windows */
#define N_COUNTS 6

#ifdef __SANITIZE_ADDRESS__
#define N_HOURS 9
#else
#define N_HOURS 24
#endif

enum { STACKS, STREAMS, BRANCHES, BLOCKS, FUNCTIONS, N_TABLES };
/* The counts of a function; those of the other tables are in the order of the profile. */
enum { SELF, CALLS, RUNS, CYCLES, TIMED_RUNS };

static const struct store_settings settings = {
	.tiers = { .rows = { { 10 * SECOND, 10 * MINUTE },
			     { MINUTE, HOUR },
			     { 10 * MINUTE, 6 * HOUR },
			     { HOUR, 90 * 24 * HOUR } },
		   .n = 4 },
};

typedef uint64_t counts_by_key[N_PROGRAMS][N_OBJECTS][N_KEYS][N_COUNTS];
typedef uint64_t counts_by_object[N_PROGRAMS][N_OBJECTS][N_COUNTS];

/* What a span of time has. Samples at the address 0 are counted as of the first object. */
struct counted {
	counts_by_key rows[N_TABLES];
	counts_by_object others[N_TABLES];
	uint64_t samples[N_PROGRAMS]; /* of the processes themselves */
	struct profile_counters totals;
};

/* What was seen of the day's windows. */
struct day {
	struct store *store;
	uint64_t end_us;
	size_t n_hours, n_shorter;
	uint64_t missing[N_TABLES];
};

static struct counted exact, found;

static void fill(struct store *store)
{
	for (uint64_t i = 0; i < N_HOURS * OF_HOUR; i++) {
		_cleanup_(profile_freep) struct profile *p = branch_window_make(i);
		struct window window = temp_store_window(i);
		struct fault fault = { 0 };
		int r;

		window.samples = p->counters.samples;
		temp_store_add(store, &window, p);
		do
			r = store_roll(store, &fault);
		while (r > 0);
		TEMP_STORE_CHECK(r >= 0, "%s", fault.text);
	}
}

static int program_of(const struct profile *p, uint32_t process)
{
	int program = 0;

	assert_true(process < p->n_processes);
	while (strcmp(p->processes[process].comm, comms[program]) != 0)
		assert_true(++program < N_PROGRAMS);
	return program;
}

/* Where a row of that process and place is counted. */
static uint64_t *key_of(counts_by_key *rows, const struct profile *p, uint32_t process,
			struct location at)
{
	assert_true(at.object < p->n_objects && at.offset / 0x1000 < N_SITES);
	return (*rows)[program_of(p, process)][strcmp(p->objects[at.object].path,
						      object_paths[0]) != 0][at.offset / 0x1000];
}

/* Where what is missing of that process and object is. */
static uint64_t *other_of(counts_by_object *others, const struct profile *p, uint32_t process,
			  uint32_t object)
{
	assert_true(object < p->n_objects || object == PROFILE_NONE);
	return (*others)[program_of(p, process)]
			[object != PROFILE_NONE &&
			 strcmp(p->objects[object].path, object_paths[0]) != 0];
}

static void add(uint64_t *to, const uint64_t counts[N_COUNTS])
{
	for (size_t i = 0; i < N_COUNTS; i++)
		to[i] += counts[i];
}

static void count_stacks(struct counted *c, const struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		const uint64_t counts[N_COUNTS] = { stack->samples, stack->weight };

		if (stack->samples == 0)
			continue;
		if (stack->frame.object == PROFILE_NONE)
			add(other_of(&c->others[STACKS], p, stack->process, PROFILE_NONE), counts);
		else
			add(key_of(&c->rows[STACKS], p, stack->process, stack->frame), counts);
	}
}

/* Hits; cycles of the newest branches, and of the older ones. */
static void count_streams(struct counted *c, const struct profile *p)
{
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *stream = &p->streams[i];
		uint64_t *other =
			other_of(&c->others[STREAMS], p, stream->process, stream->from.object);
		uint64_t hits = stream->hits - stream->pruned, cycles = stream->cycles;
		uint64_t *row;

		other[0] += stream->pruned;
		if (other_is_stream(stream)) {
			assert_int_equal(hits, 0);
			other[1] += cycles;
			continue;
		}
		row = key_of(&c->rows[STREAMS], p, stream->process, stream->from);
		if (stream->parent == PROFILE_NONE)
			add(row + N_SITES * N_COUNTS, (uint64_t[N_COUNTS]){ hits, cycles });
		else
			add(row, (uint64_t[N_COUNTS]){ hits, 0, cycles });
	}
}

static void count_branches(struct counted *c, const struct profile *p)
{
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *branch = &p->branches[i];
		const uint64_t counts[N_COUNTS] = { branch->taken,     branch->mispredicted,
						    branch->predicted, branch->aborted,
						    branch->cycles,    branch->cycles_rows };

		if (other_is_branch(branch))
			add(other_of(&c->others[BRANCHES], p, branch->process, branch->from.object),
			    counts);
		else
			add(key_of(&c->rows[BRANCHES], p, branch->process, branch->from), counts);
	}
}

static void count_blocks(struct counted *c, const struct profile *p)
{
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *block = &p->blocks[i];
		const uint64_t counts[N_COUNTS] = { block->runs, block->cycles,
						    block->cycles_rows };

		if (other_is_block(block))
			add(other_of(&c->others[BLOCKS], p, block->process, block->object), counts);
		else
			add(key_of(&c->rows[BLOCKS], p, block->process,
				   (struct location){ block->object, block->start }),
			    counts);
	}
}

/* But for its functions. */
static void count(struct counted *c, const struct profile *p)
{
	count_stacks(c, p);
	count_streams(c, p);
	count_branches(c, p);
	count_blocks(c, p);
	for (uint32_t i = 0; i < p->n_processes; i++)
		c->samples[program_of(p, i)] += p->processes[i].samples;
}

/* By the rows that the functions are made of. */
static void count_functions(struct counted *c, int program, uint32_t object)
{
	for (uint64_t site = 0; site < N_SITES; site++) {
		uint64_t *row = c->rows[FUNCTIONS][program][object][site];
		const uint64_t *block = c->rows[BLOCKS][program][object][site];

		row[SELF] = c->rows[STACKS][program][object][site][0];
		row[RUNS] = block[0];
		row[CYCLES] = block[1];
		row[TIMED_RUNS] = block[2];
		c->rows[FUNCTIONS][program][called_object(object, site)][called_site(site)]
		       [CALLS] += c->rows[BRANCHES][program][object][site][0];
	}
}

/* What the windows of 10 s had that @window is the sum of. */
static void count_exact(const struct window *window)
{
	memset(&exact, 0, sizeof(exact));
	for (uint64_t at = window->start_us; at < window->start_us + window->length_us;
	     at += 10 * SECOND) {
		_cleanup_(profile_freep) struct profile *p = branch_window_make(at / (10 * SECOND));
		const uint64_t *counters = (const uint64_t *)&p->counters;

		count(&exact, p);
		for (size_t i = 0; i < sizeof(exact.totals) / sizeof(uint64_t); i++)
			((uint64_t *)&exact.totals)[i] += counters[i];
	}
	for (int program = 0; program < N_PROGRAMS; program++)
		for (uint32_t object = 0; object < N_OBJECTS; object++)
			count_functions(&exact, program, object);
}

/* The store's counts by function, of one program after the other. */
static void read_functions(struct store *store, const struct window *window)
{
	for (int program = 0; program < N_PROGRAMS; program++) {
		const struct profile_filter filter = { .comm = comms[program] };
		_cleanup_(function_sum_freep) struct function_sum *sum = NULL;
		struct window same = *window;
		struct fault fault;

		assert_int_equal(function_sum_new(&sum), 0);
		assert_int_equal(store_read_functions(store, &same, &filter, sum, &fault), 1);
		for (size_t i = 0; i < sum->n_rows; i++) {
			const struct function_sum_row *row = &sum->rows[i];
			const struct profile *names = sum->names;
			const struct function_tally *tally = &row->tally;
			const uint64_t counts[N_COUNTS] = { tally->self, tally->calls, tally->runs,
							    tally->cycles, tally->timed_runs };

			if (row->at.offset == UINT64_MAX)
				add(found.others[FUNCTIONS][program][0], counts);
			else
				add(found.rows[FUNCTIONS][program]
					      [strcmp(names->objects[row->at.object].path,
						      object_paths[0]) != 0]
					      [row->at.offset / 0x1000],
				    counts);
		}
	}
}

/* The store's counts of all programs by name, user or object. */
static struct function_sum *read_by(struct store *store, const struct window *window,
				    enum function_sum_kind by)
{
	const struct profile_filter filter = { 0 };
	struct function_sum *sum = NULL;
	struct window same = *window;
	struct fault fault;

	assert_int_equal(function_sum_new(&sum), 0);
	sum->by = by;
	assert_int_equal(store_read_functions(store, &same, &filter, sum, &fault), 1);
	return sum;
}

/* The samples that should be counted of a row: of a program, or all programs of a user. */
static uint64_t samples_of(const struct function_sum *sum, const struct function_sum_row *row)
{
	const struct profile_process *process;
	uint64_t samples = 0;

	if (row->id == OWNER_NONE)
		return 0;
	process = &sum->names->processes[row->at.object];
	for (int program = 0; program < N_PROGRAMS; program++)
		if (sum->by == SUM_COMM ? strcmp(process->comm, comms[program]) == 0 :
					  process->uid == 1000 + (uint32_t)program % 2)
			samples += exact.samples[program];
	return samples;
}

/* By name or user: exactly. */
static void assert_owners(struct store *store, const struct window *window,
			  enum function_sum_kind by)
{
	_cleanup_(function_sum_freep) struct function_sum *sum = read_by(store, window, by);
	uint64_t samples = 0;

	for (size_t i = 0; i < sum->n_rows; i++) {
		assert_int_equal(sum->rows[i].tally.self, samples_of(sum, &sum->rows[i]));
		samples += sum->rows[i].tally.self;
	}
	assert_int_equal(samples, exact.totals.samples);
}

/* Objects have the samples of their stacks: all but those at the address 0. */
static void assert_objects_of_all(struct store *store, const struct window *window)
{
	_cleanup_(function_sum_freep) struct function_sum *sum = read_by(store, window, SUM_OBJECT);
	uint64_t self[N_OBJECTS] = { 0 };

	for (size_t i = 0; i < sum->n_rows; i++)
		if (sum->rows[i].kind == SUM_OBJECT && sum->rows[i].at.object != PROFILE_NONE)
			self[strcmp(sum->names->objects[sum->rows[i].at.object].path,
				    object_paths[0]) != 0] += sum->rows[i].tally.self;
	for (int object = 0; object < N_OBJECTS; object++) {
		uint64_t samples = 0;

		for (int program = 0; program < N_PROGRAMS; program++)
			for (size_t key = 0; key < N_KEYS; key++)
				samples += found.rows[STACKS][program][object][key][0];
		assert_int_equal(self[object], samples);
	}
}

static void count_found(struct store *store, const struct window *window)
{
	_cleanup_(profile_freep) struct profile *p = temp_store_read(store, window->id);

	assert_non_null(p);
	memset(&found, 0, sizeof(found));
	found.totals = p->counters;
	count(&found, p);
	read_functions(store, window);
}

/* What the keys of a process and an object lack. */
static void find_missing(int table, int program, int object, uint64_t missing[N_COUNTS])
{
	for (size_t key = 0; key < N_KEYS; key++) {
		const uint64_t *all = exact.rows[table][program][object][key];
		const uint64_t *kept = found.rows[table][program][object][key];

		for (size_t i = 0; i < N_COUNTS; i++) {
			assert_in_range(kept[i], 0, all[i]);
			missing[i] += all[i] - kept[i];
		}
	}
	for (size_t key = N_RARE; table != FUNCTIONS && key < N_SITES; key++)
		assert_memory_equal(found.rows[table][program][object][key],
				    exact.rows[table][program][object][key],
				    sizeof(uint64_t[N_COUNTS]));
}

/* Of an object, streams, branches and blocks; *@missing by process. */
static void assert_objects(int table, int program, uint64_t missing[N_COUNTS])
{
	for (int object = 0; object < N_OBJECTS; object++) {
		const uint64_t *other = found.others[table][program][object];
		uint64_t of_object[N_COUNTS] = { 0 };

		find_missing(table, program, object, of_object);
		add(missing, of_object);
		if (table == STREAMS) /* the cycles of older branches go with them */
			of_object[2] = 0;
		if (table == STREAMS || table == BRANCHES || table == BLOCKS)
			assert_memory_equal(of_object, other, sizeof(of_object));
	}
}

/* The samples at the address 0; and calls and runs are of branches and blocks that are kept. */
static void assert_process(uint64_t missing[N_TABLES][N_COUNTS], int program)
{
	const uint64_t *nowhere = found.others[STACKS][program][0];

	assert_int_equal(found.samples[program], exact.samples[program]);
	assert_int_equal(missing[STACKS][0], nowhere[0]);
	assert_int_equal(missing[STACKS][1], nowhere[1]);
	assert_int_equal(missing[FUNCTIONS][SELF], nowhere[0]);
	assert_int_equal(found.others[FUNCTIONS][program][0][SELF], nowhere[0]);
	assert_int_equal(missing[FUNCTIONS][CALLS], missing[BRANCHES][0]);
	assert_int_equal(missing[FUNCTIONS][RUNS], missing[BLOCKS][0]);
	assert_int_equal(missing[FUNCTIONS][CYCLES], missing[BLOCKS][1]);
	assert_int_equal(missing[FUNCTIONS][TIMED_RUNS], missing[BLOCKS][2]);
}

/* All counters but those that say how much was pruned; nothing was beyond a limit. */
static void assert_totals(void)
{
	struct profile_counters totals = found.totals;

	totals.stacks_pruned = totals.stacks_error = 0;
	totals.streams_pruned = totals.streams_error = 0;
	assert_memory_equal(&totals, &exact.totals, sizeof(totals));
}

static int on_window(const struct window *window, void *userdata)
{
	struct day *day = userdata;
	uint64_t n_streams_pruned = 0;

	assert_int_equal(window->start_us, day->end_us);
	day->end_us += window->length_us;
	count_exact(window);
	count_found(day->store, window);
	assert_int_equal(window->samples, exact.totals.samples);
	assert_totals();
	assert_owners(day->store, window, SUM_COMM);
	assert_owners(day->store, window, SUM_USER);
	assert_objects_of_all(day->store, window);
	for (int program = 0; program < N_PROGRAMS; program++) {
		uint64_t missing[N_TABLES][N_COUNTS] = { 0 };

		for (int table = 0; table < N_TABLES; table++) {
			assert_objects(table, program, missing[table]);
			day->missing[table] += missing[table][0];
		}
		assert_process(missing, program);
		n_streams_pruned += missing[STREAMS][0];
	}
	assert_int_equal(n_streams_pruned, found.totals.streams_pruned);
	*(window->length_us == HOUR ? &day->n_hours : &day->n_shorter) += 1;
	return 0;
}

static void test_a_day_of_branch_records_is_the_sum_of_its_windows(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct day day = { .store = store };
	struct fault fault;

	store_set_settings(store, &settings);
	store_set_alive(store, branch_window_is_alive);
	fill(store);
	assert_int_equal(store_for_each(store, 0, UINT64_MAX, on_window, &day, &fault), 0);
	assert_int_equal(day.end_us, N_HOURS * HOUR);
	assert_true(day.n_hours > 0 && day.n_shorter > 0);
	for (int table = 0; table < N_TABLES; table++)
		assert_true(day.missing[table] > 0);
	store_free(store);
	temp_store_check(stored->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_a_day_of_branch_records_is_the_sum_of_its_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
