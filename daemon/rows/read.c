/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of counts come with numbers of places, stacks and streams; each number is looked up once,
 * and each row that several windows count is one. The rows come in another order than the
 * profile's: finalizing sorts them.
 */
#include "daemon/rows/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/database/id-map.h"

enum {
	LIST_WINDOWS,
	READ_WINDOW,
	READ_INFO,
	READ_PROCESSES,
	READ_STACKS,
	READ_STREAMS,
	READ_BRANCHES,
	READ_BLOCKS,
	READ_OUTER_FUNCTIONS,
	N_STATEMENTS,
};

#define WINDOW_COLUMNS "id, start_us, length_us, samples, lost, mode"

static const char *const sql[N_STATEMENTS] = {
	[LIST_WINDOWS] = "SELECT " WINDOW_COLUMNS " FROM window WHERE start_us >= ? AND "
			 "start_us < ? ORDER BY start_us, id",
	[READ_WINDOW] = "SELECT " WINDOW_COLUMNS " FROM window WHERE id = ?",
	[READ_INFO] = "SELECT m.text, e.text, h.text, o.text, c.text, s.n_cpus, s.depth, "
		      "w.first_ns, w.last_ns "
		      "FROM window w JOIN source s ON s.id = w.source "
		      "LEFT JOIN string m ON m.id = s.mode AND m.id > 0 "
		      "LEFT JOIN string e ON e.id = s.event AND e.id > 0 "
		      "LEFT JOIN string h ON h.id = s.hostname AND h.id > 0 "
		      "LEFT JOIN string o ON o.id = s.os_release AND o.id > 0 "
		      "LEFT JOIN string c ON c.id = s.cpu AND c.id > 0 WHERE w.id = ?",
	[READ_PROCESSES] = "SELECT c.process, c.samples, p.pid, p.start_ns, p.uid, m.text, e.text, "
			   "u.text, p.restricted, c.gone FROM process_count c "
			   "LEFT JOIN process p ON p.id = c.process "
			   "LEFT JOIN string m ON m.id = p.comm AND m.id > 0 "
			   "LEFT JOIN string e ON e.id = p.executable AND e.id > 0 "
			   "LEFT JOIN string u ON u.id = p.unit AND u.id > 0 WHERE c.window = ?",
	[READ_STACKS] = "SELECT process, caller, place, samples, stitched, weight, pruned "
			"FROM stack_count WHERE window = ?",
	[READ_STREAMS] = "SELECT process, stream, hits, pruned, cycles FROM stream_count "
			 "WHERE window = ?",
	[READ_BRANCHES] = "SELECT process, origin, target, taken, mispredicted, predicted, "
			  "aborted, cycles, cycles_rows, kind FROM branch_count WHERE window = ?",
	[READ_BLOCKS] = "SELECT process, first, last, runs, cycles, cycles_rows FROM block_count "
			"WHERE window = ?",
	[READ_OUTER_FUNCTIONS] = "SELECT function FROM outer_function WHERE window = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_READ, "read.h has another number");

/* Windows being read, one after the other, into one sum. */
struct reading {
	struct store_read *read;
	const struct store_batch *batch;
	struct window_sum *sum; /* NULL: only a head is read, into */
	struct profile *profile;
	int64_t window;
	size_t n_windows; /* before it */
	size_t n_rows;
};

int store_read_init(struct store_read *read, struct database *database,
		    struct store_counters *counters)
{
	int r;

	*read = (struct store_read){ .database = database, .counters = counters };
	r = store_lookup_init(&read->lookup, database);
	return r < 0 ? r : database_prepare(database, sql, N_STATEMENTS, read->statements);
}

static struct window window_row(struct statement *row)
{
	struct window window = {
		.id = statement_int(row, 0),
		.start_us = (uint64_t)statement_int(row, 1),
		.length_us = (uint64_t)statement_int(row, 2),
		.samples = (uint64_t)statement_int(row, 3),
		.lost = (uint64_t)statement_int(row, 4),
	};
	const char *mode = statement_text(row, 5) ?: "";

	memcpy(window.mode, mode, strnlen(mode, sizeof(window.mode) - 1));
	return window;
}

static bool window_is_within(const struct window *window, uint64_t since_us, uint64_t until_us)
{
	uint64_t end_us;

	if (__builtin_add_overflow(window->start_us, window->length_us, &end_us))
		end_us = UINT64_MAX;
	return window->start_us < until_us && (window->start_us >= since_us || end_us > since_us);
}

int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    uint64_t longest_us, struct window **ret, size_t *ret_n)
{
	struct statement *row = read->statements[LIST_WINDOWS];
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0, cap = 0;
	int r;

	statement_bind_int(row, 1, since_us > longest_us ? (int64_t)(since_us - longest_us) : 0);
	statement_bind_int(row, 2, (int64_t)MIN(until_us, (uint64_t)INT64_MAX));
	while ((r = statement_step(row)) > 0) {
		struct window window = window_row(row);

		if (!window_is_within(&window, since_us, until_us))
			continue;
		r = ARRAY_RESERVE(&windows, &cap, n + 1);
		if (r < 0) {
			statement_reset(row);
			return r;
		}
		windows[n++] = window;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(windows);
	*ret_n = n;
	return 0;
}

static int read_info(struct reading *reading)
{
	struct statement *row = reading->read->statements[READ_INFO];
	struct profile_info info;
	int r;

	statement_bind_int(row, 1, reading->window);
	r = statement_step(row);
	if (r == 0)
		return database_damaged(reading->read->database, "window %" PRId64 " has no source",
					reading->window);
	if (r < 0)
		return r;
	info = (struct profile_info){
		.mode = statement_text(row, 0),
		.event = statement_text(row, 1),
		.hostname = statement_text(row, 2),
		.os_release = statement_text(row, 3),
		.cpu = statement_text(row, 4),
		.n_cpus = (uint32_t)statement_int(row, 5),
		.depth = (uint32_t)statement_int(row, 6),
		.start_ns = (uint64_t)statement_int(row, 7),
		.end_ns = (uint64_t)statement_int(row, 8),
	};
	r = profile_add_info(reading->profile, &info, reading->n_windows == 0);
	return MIN(r, statement_reset(row));
}

/* What has gone has no number any more. 0 or -errno. */
static int look_whether_gone(const struct reading *reading, int64_t id,
			     struct profile_process *process)
{
	const struct store_batch *batch = reading->batch;
	int r = batch->is_gone ? batch->is_gone(id, process->pid, batch->userdata) : 0;

	if (r <= 0)
		return r;
	process->pid = -1;
	process->start_ns = 0;
	process->n_gone = 1;
	return 0;
}

static int read_process(struct reading *reading, struct statement *row)
{
	struct profile_process process = {
		.samples = (uint64_t)statement_int(row, 1),
		.pid = (int32_t)statement_int(row, 2),
		.start_ns = (uint64_t)statement_int(row, 3),
		.uid = statement_is_null(row, 4) ? UINT32_MAX : (uint32_t)statement_int(row, 4),
		.restricted = statement_int(row, 8) != 0,
		.comm = statement_text(row, 5),
		.executable = statement_text(row, 6),
		.unit = statement_text(row, 7),
		.n_gone = (uint64_t)statement_int(row, 9),
	};
	struct id_map *processes = &reading->sum->processes;
	int64_t id = statement_int(row, 0), pid = statement_int(row, 2), index;
	const struct id_value *found = id_map_find(processes, (struct id_key){ id, 0, 0 });
	int r;

	if (found) {
		reading->profile->processes[found->id].samples += process.samples;
		reading->profile->processes[found->id].n_gone += process.n_gone;
		return 0;
	}
	if (statement_is_null(row, 2) || pid < -1 || pid > INT32_MAX)
		return database_damaged(reading->read->database, "process %" PRId64 " is invalid",
					id);
	r = look_whether_gone(reading, id, &process);
	if (r < 0)
		return r;
	index = profile_add_process(reading->profile, &process);
	if (index < 0)
		return (int)index;
	return id_map_put(processes, (struct id_key){ id, 0, 0 }, (struct id_value){ index, 0 });
}

/* Calls @read_row for each row of the statement. */
static int read_rows(struct reading *reading, int which,
		     int (*read_row)(struct reading *reading, struct statement *row))
{
	struct statement *row = reading->read->statements[which];
	int r;

	statement_bind_int(row, 1, reading->window);
	while ((r = statement_step(row)) > 0) {
		r = read_row(reading, row);
		reading->n_rows++;
		if (r < 0) {
			statement_reset(row);
			return r;
		}
	}
	return r;
}

static int find_process(const struct reading *reading, int64_t id, uint32_t *ret)
{
	const struct id_value *found =
		id_map_find(&reading->sum->processes, (struct id_key){ id, 0, 0 });

	if (id != 0 && !found)
		return database_damaged(reading->read->database,
					"window %" PRId64 " does not count process %" PRId64,
					reading->window, id);
	*ret = id == 0 ? PROFILE_NONE : (uint32_t)found->id;
	return 0;
}

/* The first three numbers of a row: a process, and of what it is. */
static struct id_key key_of(struct statement *row)
{
	return (struct id_key){ statement_int(row, 0), statement_int(row, 1),
				statement_int(row, 2) };
}

/* It may be there already, as the caller of another: finalizing merges them. */
static int add_stack(struct reading *reading, struct id_key key, struct profile_stack *stack)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	int r = find_process(reading, key.a, &stack->process);

	if (r < 0)
		return r;
	r = store_lookup_stack(lookup, stack->process, key.b, &stack->parent);
	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &stack->frame);
	return r < 0 ? r :
		       window_sum_put(reading->sum, PROFILE_STACKS, key,
				      profile_add_stack(reading->profile, stack));
}

static int read_stack(struct reading *reading, struct statement *row)
{
	struct profile_stack stack = {
		.samples = (uint64_t)statement_int(row, 3),
		.stitched = (uint64_t)statement_int(row, 4),
		.weight = (uint64_t)statement_int(row, 5),
		.pruned = (uint64_t)statement_int(row, 6),
	};
	struct id_key key = key_of(row);
	int64_t index = window_sum_find(reading->sum, PROFILE_STACKS, key);
	struct profile_stack *sum;

	if (index < 0)
		return add_stack(reading, key, &stack);
	sum = &reading->profile->stacks[index];
	sum->samples += stack.samples;
	sum->stitched += stack.stitched;
	sum->weight += stack.weight;
	sum->pruned += stack.pruned;
	return 0;
}

static int read_stream(struct reading *reading, struct statement *row)
{
	struct profile_stream *stream;
	uint32_t process = PROFILE_NONE, index;
	int r;

	r = find_process(reading, statement_int(row, 0), &process);
	if (r < 0)
		return r;
	r = store_lookup_stream(&reading->sum->lookup, process, statement_int(row, 1), &index);
	if (r < 0)
		return r;
	stream = &reading->profile->streams[index];
	stream->hits += (uint64_t)statement_int(row, 2);
	stream->pruned += (uint64_t)statement_int(row, 3);
	stream->cycles += (uint64_t)statement_int(row, 4);
	return 0;
}

static int add_branch(struct reading *reading, struct id_key key, struct profile_branch *branch)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	int r = find_process(reading, key.a, &branch->process);

	if (r < 0)
		return r;
	r = store_lookup_place(lookup, key.b, &branch->from);
	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &branch->to);
	return r < 0 ? r :
		       window_sum_put(reading->sum, PROFILE_BRANCHES, key,
				      profile_add_branch(reading->profile, branch));
}

static int read_branch(struct reading *reading, struct statement *row)
{
	struct profile_branch branch = {
		.taken = (uint64_t)statement_int(row, 3),
		.mispredicted = (uint64_t)statement_int(row, 4),
		.predicted = (uint64_t)statement_int(row, 5),
		.aborted = (uint64_t)statement_int(row, 6),
		.cycles = (uint64_t)statement_int(row, 7),
		.cycles_rows = (uint64_t)statement_int(row, 8),
		.kind = (enum branch_kind)statement_int(row, 9),
	};
	struct id_key key = key_of(row);
	int64_t index = window_sum_find(reading->sum, PROFILE_BRANCHES, key);
	struct profile_branch *sum;

	if ((uint64_t)statement_int(row, 9) >= N_BRANCH_KINDS)
		return database_damaged(reading->read->database,
					"window %" PRId64 " has a branch of unknown kind",
					reading->window);
	if (index < 0)
		return add_branch(reading, key, &branch);
	sum = &reading->profile->branches[index];
	sum->kind = branch_kind_merge(sum->kind, branch.kind);
	sum->taken += branch.taken;
	sum->mispredicted += branch.mispredicted;
	sum->predicted += branch.predicted;
	sum->aborted += branch.aborted;
	sum->cycles += branch.cycles;
	sum->cycles_rows += branch.cycles_rows;
	return 0;
}

static int add_block(struct reading *reading, struct id_key key, struct profile_block *block)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	struct location first, last;
	int r = find_process(reading, key.a, &block->process);

	if (r < 0)
		return r;
	r = store_lookup_place(lookup, key.b, &first);
	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &last);
	if (r < 0)
		return r;
	if (first.object != last.object)
		return database_damaged(reading->read->database,
					"window %" PRId64 " has a block across two objects",
					reading->window);
	block->object = first.object;
	block->start = first.offset;
	block->end = last.offset;
	return window_sum_put(reading->sum, PROFILE_BLOCKS, key,
			      profile_add_block(reading->profile, block));
}

static int read_block(struct reading *reading, struct statement *row)
{
	struct profile_block block = {
		.runs = (uint64_t)statement_int(row, 3),
		.cycles = (uint64_t)statement_int(row, 4),
		.cycles_rows = (uint64_t)statement_int(row, 5),
	};
	struct id_key key = key_of(row);
	int64_t index = window_sum_find(reading->sum, PROFILE_BLOCKS, key);
	struct profile_block *sum;

	if (index < 0)
		return add_block(reading, key, &block);
	sum = &reading->profile->blocks[index];
	sum->runs += block.runs;
	sum->cycles += block.cycles;
	sum->cycles_rows += block.cycles_rows;
	return 0;
}

static int read_outer_function(struct reading *reading, struct statement *row)
{
	return store_lookup_function(&reading->sum->lookup, statement_int(row, 0), NULL);
}

static int read_tables(struct reading *reading)
{
	static const struct {
		int statement;
		int (*read_row)(struct reading *reading, struct statement *row);
	} tables[N_PROFILE_TABLES] = {
		[PROFILE_STACKS] = { READ_STACKS, read_stack },
		[PROFILE_STREAMS] = { READ_STREAMS, read_stream },
		[PROFILE_BRANCHES] = { READ_BRANCHES, read_branch },
		[PROFILE_BLOCKS] = { READ_BLOCKS, read_block },
	};
	int r = read_rows(reading, READ_PROCESSES, read_process);

	for (size_t i = 0; r >= 0 && i < N_PROFILE_TABLES; i++)
		if (reading->sum->tables & PROFILE_TABLE(i))
			r = read_rows(reading, tables[i].statement, tables[i].read_row);
	return r < 0 ? r : read_rows(reading, READ_OUTER_FUNCTIONS, read_outer_function);
}

/* Reads all but the tables of many rows. 1, or 0 if there is no such window; or -errno. */
static int read_head(struct reading *reading, int64_t id, struct window *ret)
{
	struct statement *row = reading->read->statements[READ_WINDOW];
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r <= 0)
		return r;
	*ret = window_row(row);
	reading->window = id;
	r = statement_reset(row);
	if (r >= 0)
		r = read_info(reading);
	if (r >= 0)
		r = store_counters_read(reading->read->counters, id, &reading->profile->counters);
	return r < 0 ? r : 1;
}

int store_read_head(struct store_read *read, struct window *window, struct profile *profile,
		    bool is_first)
{
	struct reading reading = { .read = read, .profile = profile, .n_windows = !is_first };

	return read_head(&reading, window->id, window);
}

/* 1, or 0 if there is no such window; or -errno. */
static int read_window(struct reading *reading, int64_t id, struct window *ret)
{
	int r = read_head(reading, id, ret);

	if (r > 0)
		r = read_tables(reading) ?: 1;
	else if (r == 0)
		return 0;
	reading->n_windows++;
	return r < 0 ? r : 1;
}

int store_read_add(struct store_read *read, uint64_t number, const struct store_batch *batch,
		   struct window_sum *sum, size_t *ret_n)
{
	struct reading reading = { .read = read,
				   .batch = batch,
				   .sum = sum,
				   .profile = sum->profile,
				   .n_windows = sum->n_windows };
	size_t i = 0;
	int r = 0;

	window_sum_use(sum, number, &read->lookup);
	for (; r >= 0 && i < batch->n && (i == 0 || reading.n_rows < batch->max_rows); i++) {
		r = read_window(&reading, batch->windows[i].id, &batch->windows[i]);
		batch->found[i] = r > 0;
	}
	sum->n_windows = reading.n_windows;
	*ret_n = i;
	return MIN(r, 0);
}

int store_read_windows(struct store_read *read, const struct store_batch *batch, size_t *ret_n,
		       struct profile **ret)
{
	_cleanup_(window_sum_freep) struct window_sum *sum = NULL;
	int r;

	r = window_sum_new(&sum, PROFILE_ALL_TABLES);
	if (r >= 0)
		r = store_read_add(read, 0, batch, sum, ret_n);
	return r < 0 ? r : window_sum_take(sum, ret);
}
