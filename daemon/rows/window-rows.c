/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of counts come with numbers of places, stacks and streams; each number is looked up once,
 * and each row that several windows count is one. The rows come in another order than the
 * profile's: finalizing sorts them.
 */
#include "daemon/rows/window-rows.h"

#include <inttypes.h>

#include "common/profile/add-counts.h"
#include "daemon/database/id-map.h"
#include "daemon/database/lookup.h"

enum {
	READ_PROCESSES,
	FIND_PROCESS,
	READ_STACKS,
	READ_STREAMS,
	READ_BRANCHES,
	READ_BLOCKS,
	READ_OUTER_FUNCTIONS,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[READ_PROCESSES] = "SELECT process, samples, gone FROM process_count WHERE window = ?",
	[FIND_PROCESS] = "SELECT p.pid, p.start_ns, p.uid, m.text, e.text, u.text, p.restricted, "
			 "p.comm, p.executable, p.unit FROM process p "
			 "LEFT JOIN string m ON m.id = p.comm AND m.id > 0 "
			 "LEFT JOIN string e ON e.id = p.executable AND e.id > 0 "
			 "LEFT JOIN string u ON u.id = p.unit AND u.id > 0 WHERE p.id = ?",
	/* in the order of their variances, which is that of their keys */
	[READ_STACKS] = "SELECT process, caller, place, samples, stitched, weight, pruned "
			"FROM stack_count WHERE window = ? ORDER BY process, caller, place",
	[READ_STREAMS] = "SELECT process, stream, hits, pruned, cycles FROM stream_count "
			 "WHERE window = ? ORDER BY process, stream",
	[READ_BRANCHES] = "SELECT process, origin, target, taken, mispredicted, predicted, "
			  "aborted, cycles, cycles_rows, kind FROM branch_count WHERE window = ? "
			  "ORDER BY process, origin, target",
	[READ_BLOCKS] = "SELECT process, first, last, runs, cycles, cycles_rows FROM block_count "
			"WHERE window = ? ORDER BY process, first, last",
	[READ_OUTER_FUNCTIONS] = "SELECT function FROM outer_function WHERE window = ?",
};

_Static_assert(N_STATEMENTS == N_WINDOW_ROWS, "window-rows.h has another number");

int window_rows_init(struct window_rows *rows, struct database *database)
{
	int r = database_prepare(database, sql, N_STATEMENTS, rows->statements);

	return r < 0 ? r : store_variances_init(&rows->variances, database);
}

/* What has gone has no number any more. 0 or -errno. */
static int look_whether_gone(const struct window_reading *reading, int64_t id,
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

/* Of a process that has gone, from the row that was found: where all of its name, executable, unit
 * and user are. False for ids that no such database has. */
static bool key_of_gone(struct statement *row, const struct profile_process *process,
			struct id_key *ret)
{
	int64_t unit = statement_int(row, 9);

	*ret = (struct id_key){ statement_int(row, 7), statement_int(row, 8),
				(int64_t)((uint64_t)unit << 33 | (uint64_t)process->uid << 1 |
					  process->restricted) };
	return process->pid == -1 && process->start_ns == 0 && unit >= 0 && unit < 1 << 30;
}

static void add_to_process(const struct window_reading *reading, int64_t index, uint64_t samples,
			   uint64_t n_gone)
{
	reading->profile->processes[index].samples += samples;
	reading->profile->processes[index].n_gone += n_gone;
}

/* *@ret is its index: a new one, or that of others that have gone. */
static int add_process(const struct window_reading *reading, struct statement *row,
		       const struct profile_process *process, int64_t *ret)
{
	struct id_map *gone = &reading->sum->gone;
	struct id_key key;
	bool shared = key_of_gone(row, process, &key);
	const struct id_value *found = shared ? id_map_find(gone, key) : NULL;

	if (found) {
		*ret = found->id;
		add_to_process(reading, *ret, process->samples, process->n_gone);
		return 0;
	}
	*ret = profile_add_process(reading->profile, process);
	if (*ret < 0)
		return (int)*ret;
	return shared ? id_map_put(gone, key, (struct id_value){ *ret, 0 }) : 0;
}

/* The process of an id that was not met yet; @process has its counts. */
static int name_process(const struct window_reading *reading, int64_t id,
			struct profile_process *process, int64_t *ret)
{
	struct statement *row = reading->rows->statements[FIND_PROCESS];
	int64_t pid;
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r < 0)
		return r;
	pid = r > 0 ? statement_int(row, 0) : INT64_MIN;
	if (pid < -1 || pid > INT32_MAX) {
		statement_reset(row);
		return database_damaged(reading->database, "process %" PRId64 " is invalid", id);
	}
	process->pid = (int32_t)pid;
	process->start_ns = (uint64_t)statement_int(row, 1);
	process->uid = statement_is_null(row, 2) ? UINT32_MAX : (uint32_t)statement_int(row, 2);
	process->comm = statement_text(row, 3);
	process->executable = statement_text(row, 4);
	process->unit = statement_text(row, 5);
	process->restricted = statement_int(row, 6) != 0;
	r = look_whether_gone(reading, id, process);
	if (r >= 0)
		r = add_process(reading, row, process, ret);
	return MIN(r, statement_reset(row));
}

static int read_process(struct window_reading *reading, struct statement *row)
{
	struct profile_process process = {
		.samples = (uint64_t)statement_int(row, 1),
		.n_gone = (uint64_t)statement_int(row, 2),
	};
	struct id_map *processes = &reading->sum->processes;
	struct id_key id = { statement_int(row, 0), 0, 0 };
	const struct id_value *found = id_map_find(processes, id);
	int64_t index = -1;
	int r;

	if (found) {
		add_to_process(reading, found->id, process.samples, process.n_gone);
		return 0;
	}
	r = name_process(reading, id.a, &process, &index);
	return r < 0 ? r : id_map_put(processes, id, (struct id_value){ index, 0 });
}

/* Calls @read_row for each row of the statement. */
static int read_rows(struct window_reading *reading, int which,
		     int (*read_row)(struct window_reading *reading, struct statement *row))
{
	struct statement *row = reading->rows->statements[which];
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

/* Of a row: the rows of a process follow each other. */
static int find_process(struct window_reading *reading, struct statement *row, uint32_t *ret)
{
	int64_t id = statement_int(row, 0);
	const struct id_value *found;

	if (id == 0 || id == reading->process) {
		*ret = id == 0 ? PROFILE_NONE : reading->process_index;
		return 0;
	}
	found = id_map_find(&reading->sum->processes, (struct id_key){ id, 0, 0 });
	if (!found)
		return database_damaged(reading->database,
					"window %" PRId64 " does not count process %" PRId64,
					reading->window, id);
	reading->process = id;
	reading->process_index = *ret = (uint32_t)found->id;
	return 0;
}

/* The index of a row's process, and the ids of what it is of. */
static int find_key(struct window_reading *reading, struct statement *row, struct id_key *ret)
{
	uint32_t process = PROFILE_NONE;
	int r = find_process(reading, row, &process);

	if (r >= 0)
		*ret = (struct id_key){ process, statement_int(row, 1), statement_int(row, 2) };
	return r;
}

/* It may be there already, as the caller of another: finalizing merges them. */
static int add_stack(struct window_reading *reading, struct id_key key, struct profile_stack *stack)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	int r = store_lookup_stack(lookup, stack->process, key.b, &stack->parent);

	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &stack->frame);
	return r < 0 ? r :
		       window_sum_put(reading->sum, PROFILE_STACKS, key,
				      profile_add_stack(reading->profile, stack));
}

static int read_stack(struct window_reading *reading, struct statement *row)
{
	struct profile_stack stack = {
		.samples = (uint64_t)statement_int(row, 3),
		.stitched = (uint64_t)statement_int(row, 4),
		.weight = (uint64_t)statement_int(row, 5),
		.pruned = (uint64_t)statement_int(row, 6),
		.variance = store_variances_next(&reading->rows->variances),
	};
	struct id_key key;
	int64_t index;
	int r = find_key(reading, row, &key);

	if (r < 0)
		return r;
	stack.process = (uint32_t)key.a;
	index = window_sum_find(reading->sum, PROFILE_STACKS, key);
	if (index < 0)
		return add_stack(reading, key, &stack);
	add_counts_of_stack(&reading->profile->stacks[index], &stack);
	return 0;
}

static int read_stream(struct window_reading *reading, struct statement *row)
{
	const struct profile_stream stream = {
		.hits = (uint64_t)statement_int(row, 2),
		.pruned = (uint64_t)statement_int(row, 3),
		.cycles = (uint64_t)statement_int(row, 4),
		.variance = store_variances_next(&reading->rows->variances),
	};
	uint32_t process = PROFILE_NONE, index;
	int r;

	r = find_process(reading, row, &process);
	if (r < 0)
		return r;
	r = store_lookup_stream(&reading->sum->lookup, process, statement_int(row, 1), &index);
	if (r < 0)
		return r;
	add_counts_of_stream(&reading->profile->streams[index], &stream);
	return 0;
}

static int add_branch(struct window_reading *reading, struct id_key key,
		      struct profile_branch *branch)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	int r = store_lookup_place(lookup, key.b, &branch->from);

	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &branch->to);
	return r < 0 ? r :
		       window_sum_put(reading->sum, PROFILE_BRANCHES, key,
				      profile_add_branch(reading->profile, branch));
}

static int read_branch(struct window_reading *reading, struct statement *row)
{
	struct profile_branch branch = {
		.taken = (uint64_t)statement_int(row, 3),
		.mispredicted = (uint64_t)statement_int(row, 4),
		.predicted = (uint64_t)statement_int(row, 5),
		.aborted = (uint64_t)statement_int(row, 6),
		.cycles = (uint64_t)statement_int(row, 7),
		.cycles_rows = (uint64_t)statement_int(row, 8),
		.kind = (enum branch_kind)statement_int(row, 9),
		.variance = store_variances_next(&reading->rows->variances),
	};
	struct id_key key;
	int64_t index;
	int r = find_key(reading, row, &key);

	if (r < 0)
		return r;
	if ((uint64_t)statement_int(row, 9) >= N_BRANCH_KINDS)
		return database_damaged(reading->database,
					"window %" PRId64 " has a branch of unknown kind",
					reading->window);
	branch.process = (uint32_t)key.a;
	index = window_sum_find(reading->sum, PROFILE_BRANCHES, key);
	if (index < 0)
		return add_branch(reading, key, &branch);
	add_counts_of_branch(&reading->profile->branches[index], &branch);
	return 0;
}

static int add_block(struct window_reading *reading, struct id_key key, struct profile_block *block)
{
	struct store_lookup *lookup = &reading->sum->lookup;
	struct location first, last;
	int r = store_lookup_place(lookup, key.b, &first);

	if (r >= 0)
		r = store_lookup_place(lookup, key.c, &last);
	if (r < 0)
		return r;
	if (first.object != last.object)
		return database_damaged(reading->database,
					"window %" PRId64 " has a block across two objects",
					reading->window);
	block->object = first.object;
	block->start = first.offset;
	block->end = last.offset;
	return window_sum_put(reading->sum, PROFILE_BLOCKS, key,
			      profile_add_block(reading->profile, block));
}

static int read_block(struct window_reading *reading, struct statement *row)
{
	struct profile_block block = {
		.runs = (uint64_t)statement_int(row, 3),
		.cycles = (uint64_t)statement_int(row, 4),
		.cycles_rows = (uint64_t)statement_int(row, 5),
		.variance = store_variances_next(&reading->rows->variances),
	};
	struct id_key key;
	int64_t index;
	int r = find_key(reading, row, &key);

	if (r < 0)
		return r;
	block.process = (uint32_t)key.a;
	index = window_sum_find(reading->sum, PROFILE_BLOCKS, key);
	if (index < 0)
		return add_block(reading, key, &block);
	add_counts_of_block(&reading->profile->blocks[index], &block);
	return 0;
}

static int read_outer_function(struct window_reading *reading, struct statement *row)
{
	return store_lookup_function(&reading->sum->lookup, statement_int(row, 0), NULL);
}

static int read_table(struct window_reading *reading, enum profile_table table)
{
	static const struct {
		int statement;
		int (*read_row)(struct window_reading *reading, struct statement *row);
	} tables[N_PROFILE_TABLES] = {
		[PROFILE_STACKS] = { READ_STACKS, read_stack },
		[PROFILE_STREAMS] = { READ_STREAMS, read_stream },
		[PROFILE_BRANCHES] = { READ_BRANCHES, read_branch },
		[PROFILE_BLOCKS] = { READ_BLOCKS, read_block },
	};
	struct store_variances *variances = &reading->rows->variances;
	int r = store_variances_begin(variances, reading->window, table);

	if (r >= 0)
		r = read_rows(reading, tables[table].statement, tables[table].read_row);
	return store_variances_end(variances, r);
}

int window_rows_read(struct window_reading *reading)
{
	int r = read_rows(reading, READ_PROCESSES, read_process);

	for (enum profile_table i = 0; r >= 0 && i < N_PROFILE_TABLES; i++)
		if (reading->sum->tables & PROFILE_TABLE(i))
			r = read_table(reading, i);
	return r < 0 ? r : read_rows(reading, READ_OUTER_FUNCTIONS, read_outer_function);
}
