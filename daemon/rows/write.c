/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/write.h"

#include <stddef.h>

#include "common/util/cleanup.h"
#include "daemon/rows/row-ids.h"
#include "daemon/rows/row-order.h"

enum {
	ADD_WINDOW,
	ADD_PROCESS_COUNT,
	ADD_OUTER_FUNCTION,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[ADD_WINDOW] = "INSERT INTO window (id, start_us, length_us, samples, lost, source, "
		       "first_ns, last_ns, horizon, mode) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ADD_PROCESS_COUNT] = "INSERT INTO process_count (window, process, samples, gone) "
			      "VALUES (?, ?, ?, ?)",
	[ADD_OUTER_FUNCTION] = "INSERT INTO outer_function (window, function) VALUES (?, ?)",
};

_Static_assert(N_STATEMENTS == N_STORE_WRITE, "write.h has another number");

/* What most of a window is. */
static const struct {
	const char *sql[2];
	size_t n_columns;
} counts[N_PROFILE_TABLES] = {
	[PROFILE_STACKS] = {
		BULK_SQL("INSERT INTO stack_count (window, process, caller, place, samples, "
			 "stitched, weight, pruned)", "(?, ?, ?, ?, ?, ?, ?, ?)"),
		8,
	},
	[PROFILE_STREAMS] = {
		BULK_SQL("INSERT INTO stream_count (window, process, stream, hits, pruned, cycles)",
			 "(?, ?, ?, ?, ?, ?)"),
		6,
	},
	[PROFILE_BRANCHES] = {
		BULK_SQL("INSERT INTO branch_count (window, process, origin, target, taken, "
			 "mispredicted, predicted, aborted, cycles, cycles_rows, kind)",
			 "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
		11,
	},
	[PROFILE_BLOCKS] = {
		BULK_SQL("INSERT INTO block_count (window, process, first, last, runs, cycles, "
			 "cycles_rows)", "(?, ?, ?, ?, ?, ?, ?)"),
		7,
	},
};

/* A window being written. */
struct writing {
	struct store_write *write;
	int64_t window; /* its id */
	struct row_ids rows;
};

static void writing_done(struct writing *writing)
{
	row_ids_done(&writing->rows);
}

int store_write_init(struct store_write *write, struct database *database,
		     const struct store_write_modules *modules)
{
	int r;

	*write = (struct store_write){ .database = database, .modules = *modules };
	r = database_prepare(database, sql, N_STATEMENTS, write->statements);
	for (size_t i = 0; r >= 0 && i < N_PROFILE_TABLES; i++)
		r = bulk_init(&write->counts[i], database, counts[i].sql, counts[i].n_columns);
	return r < 0 ? r : store_variances_init(&write->variances, database);
}

static int write_window(struct writing *writing, const struct window *window, int64_t horizon)
{
	struct statement *add = writing->write->statements[ADD_WINDOW];
	const struct profile_info *info = &writing->rows.profile->info;
	struct interned source;
	int r;

	r = store_intern_source(writing->write->modules.intern, info, &source);
	if (r < 0)
		return r;
	STATEMENT_BIND(add, writing->window, window->start_us, window->length_us, window->samples,
		       window->lost, source.id, info->start_ns, info->end_ns, horizon);
	statement_bind_text(add, 10, window->mode);
	return statement_run(add);
}

static int write_processes(struct writing *writing)
{
	struct statement *add = writing->write->statements[ADD_PROCESS_COUNT];
	const struct profile *p = writing->rows.profile;
	int r = row_order_begin(&writing->rows.order, p->n_processes);

	for (size_t i = 0; r >= 0 && i < p->n_processes; i++)
		row_order_add(&writing->rows.order, writing->rows.processes[i].id, 0, 0, i);
	row_order_sort(&writing->rows.order);
	for (size_t i = 0; r >= 0 && i < writing->rows.order.n; i++) {
		const struct row_order_key *row = &writing->rows.order.rows[i];

		STATEMENT_BIND(add, writing->window, row->process, p->processes[row->index].samples,
			       p->processes[row->index].n_gone);
		r = statement_run(add);
	}
	return r;
}

/* After all rows of a table. */
static int flush_counts(struct writing *writing, enum profile_table table,
			const struct variance_column *column)
{
	int r = store_variances_write(&writing->write->variances, writing->window, table,
				      &writing->rows.order, column);

	return r < 0 ? r : bulk_flush(&writing->write->counts[table]);
}

#define FLUSH_COUNTS(writing, table, name)                           \
	flush_counts(writing, table,                                 \
		     &(const struct variance_column){                \
			     (writing)->rows.profile->name,          \
			     sizeof(*(writing)->rows.profile->name), \
			     offsetof(typeof(*(writing)->rows.profile->name), variance) })

static int write_stacks(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_STACKS];
	int r;

	r = row_ids_list_stacks(&writing->rows);
	for (size_t i = 0; r >= 0 && i < writing->rows.order.n; i++) {
		const struct row_order_key *row = &writing->rows.order.rows[i];
		const struct profile_stack *stack = &writing->rows.profile->stacks[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, stack->samples,
			     stack->stitched, stack->weight, stack->pruned);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_STACKS, stacks);
}

static int write_streams(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_STREAMS];
	int r;

	r = row_ids_list_streams(&writing->rows);
	for (size_t i = 0; r >= 0 && i < writing->rows.order.n; i++) {
		const struct row_order_key *row = &writing->rows.order.rows[i];
		const struct profile_stream *stream = &writing->rows.profile->streams[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, stream->hits,
			     stream->pruned, stream->cycles);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_STREAMS, streams);
}

static int write_branches(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_BRANCHES];
	int r;

	r = row_ids_list_branches(&writing->rows);
	for (size_t i = 0; r >= 0 && i < writing->rows.order.n; i++) {
		const struct row_order_key *row = &writing->rows.order.rows[i];
		const struct profile_branch *branch = &writing->rows.profile->branches[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, branch->taken,
			     branch->mispredicted, branch->predicted, branch->aborted,
			     branch->cycles, branch->cycles_rows, branch->kind);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_BRANCHES, branches);
}

static int write_blocks(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_BLOCKS];
	int r;

	r = row_ids_list_blocks(&writing->rows);
	for (size_t i = 0; r >= 0 && i < writing->rows.order.n; i++) {
		const struct row_order_key *row = &writing->rows.order.rows[i];
		const struct profile_block *block = &writing->rows.profile->blocks[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, block->runs,
			     block->cycles, block->cycles_rows);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_BLOCKS, blocks);
}

static int write_outer_functions(struct writing *writing)
{
	struct statement *add = writing->write->statements[ADD_OUTER_FUNCTION];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < writing->rows.profile->n_functions; i++) {
		if (writing->rows.led_to[i])
			continue;
		STATEMENT_BIND(add, writing->window, writing->rows.functions[i].id);
		r = statement_run(add);
	}
	return r;
}

/* All but the row of the window, and the code. */
static int write_tables(struct writing *writing)
{
	const struct store_write_modules *modules = &writing->write->modules;
	int r;

	for (size_t i = 0; i < N_PROFILE_TABLES; i++)
		bulk_forget(&writing->write->counts[i]);
	r = store_counters_write(modules->counters, writing->window,
				 &writing->rows.profile->counters);
	if (r >= 0)
		r = row_ids_intern_short_tables(&writing->rows);
	if (r >= 0)
		r = write_processes(writing);
	if (r >= 0)
		r = write_stacks(writing);
	if (r >= 0)
		r = write_streams(writing);
	if (r >= 0)
		r = write_branches(writing);
	if (r >= 0)
		r = write_blocks(writing);
	if (r >= 0)
		r = write_outer_functions(writing);
	if (r >= 0)
		r = store_functions_write(modules->functions, writing->window,
					  writing->rows.profile, writing->rows.processes,
					  writing->rows.objects, writing->rows.functions);
	return r < 0 ? r : store_intern_finish(modules->intern);
}

int store_write_window(struct store_write *write, int64_t id, int64_t horizon,
		       const struct window *window, const struct profile *profile)
{
	_cleanup_(writing_done) struct writing writing = {
		.write = write,
		.window = id,
		.rows = { .intern = write->modules.intern, .profile = profile },
	};
	int r;

	r = store_intern_begin(write->modules.intern, id, horizon);
	if (r >= 0)
		r = row_ids_init(&writing.rows);
	if (r >= 0)
		r = write_window(&writing, window, horizon);
	if (r >= 0)
		r = write_tables(&writing);
	return r < 0 ? r : store_code_keep(write->modules.code, profile, writing.rows.functions);
}

/* The counts of a window whose row is there. */
static int write_counts(struct store_write *write, int64_t id, const struct profile *profile)
{
	_cleanup_(writing_done) struct writing writing = {
		.write = write,
		.window = id,
		.rows = { .intern = write->modules.intern, .profile = profile },
	};
	int r = row_ids_init(&writing.rows);

	return r < 0 ? r : write_tables(&writing);
}

int store_write_again(struct store_write *write, int64_t id, int64_t horizon,
		      const struct profile *profile)
{
	int r = store_intern_begin_again(write->modules.intern, id, horizon);

	return r < 0 ? r : write_counts(write, id, profile);
}

int store_write_renewed(struct store_write *write, int64_t id, int64_t newest, int64_t horizon,
			const struct profile *profile)
{
	struct interned source;
	int r = store_intern_begin_renewal(write->modules.intern, newest, horizon);

	if (r >= 0)
		r = store_intern_source(write->modules.intern, &profile->info, &source);
	return r < 0 ? r : write_counts(write, id, profile);
}

int store_write_sum(struct store_write *write, int64_t id, int64_t newest, int64_t horizon,
		    const struct profile *profile)
{
	int r = store_intern_begin_sum(write->modules.intern, newest, horizon);

	return r < 0 ? r : write_counts(write, id, profile);
}

int store_write_look_up_sum(struct store_write *write, int64_t newest, int64_t horizon,
			    const struct profile *profile)
{
	_cleanup_(row_ids_done) struct row_ids rows = { .intern = write->modules.intern,
							.profile = profile };
	int r = store_intern_begin_sum(write->modules.intern, newest, horizon);

	if (r >= 0)
		r = row_ids_init(&rows);
	if (r >= 0)
		r = row_ids_intern_short_tables(&rows);
	if (r >= 0)
		r = row_ids_list_stacks(&rows);
	if (r >= 0)
		r = row_ids_list_streams(&rows);
	if (r >= 0)
		r = row_ids_list_branches(&rows);
	if (r >= 0)
		r = row_ids_list_blocks(&rows);
	return r < 0 ? r : store_intern_finish(write->modules.intern);
}
