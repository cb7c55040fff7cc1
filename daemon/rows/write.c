/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
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

/* A window being written: what the profile's rows are in the database. */
struct writing {
	struct store_write *write;
	const struct profile *profile;
	int64_t window;
	struct interned *objects, *processes, *functions, *stacks, *streams;
	bool *led_to;           /* by function: a place lies directly in it */
	bool *inner;            /* of each stack or stream: there is a deeper one */
	struct row_order order; /* of the table being written */
};

static void writing_done(struct writing *writing)
{
	free(writing->objects);
	free(writing->processes);
	free(writing->functions);
	free(writing->stacks);
	free(writing->streams);
	free(writing->led_to);
	free(writing->inner);
	free(writing->order.rows);
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

static int writing_init(struct writing *writing)
{
	const struct profile *p = writing->profile;
	size_t n_nodes = MAX(p->n_stacks, p->n_streams);
	size_t n_rows = MAX(p->n_processes, n_nodes);

	n_rows = MAX(n_rows, p->n_branches);
	n_rows = MAX(n_rows, p->n_blocks);
	if (ARRAY_ALLOCATE_ZEROED(&writing->objects, p->n_objects) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->processes, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->functions, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->stacks, p->n_stacks) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->streams, p->n_streams) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->led_to, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->inner, n_nodes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->order.rows, n_rows) < 0)
		return -ENOMEM;
	return 0;
}

static struct interned object_row(const struct writing *writing, uint32_t i)
{
	return i == PROFILE_NONE ? INTERNED_NONE : writing->objects[i];
}

static int64_t process_id(const struct writing *writing, uint32_t i)
{
	return i == PROFILE_NONE ? 0 : writing->processes[i].id;
}

static int intern_short_tables(struct writing *writing)
{
	struct store_intern *intern = writing->write->modules.intern;
	const struct profile *p = writing->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_objects; i++)
		r = store_intern_object(intern, &p->objects[i], &writing->objects[i]);
	for (size_t i = 0; r >= 0 && i < p->n_processes; i++)
		r = store_intern_process(intern, &p->processes[i], &writing->processes[i]);
	for (size_t i = 0; r >= 0 && i < p->n_functions; i++)
		r = store_intern_function(intern, object_row(writing, p->functions[i].object),
					  &p->functions[i], &writing->functions[i]);
	return r;
}

static int intern_address(struct writing *writing, struct location location,
			  struct interned function, struct interned *ret)
{
	return store_intern_place(writing->write->modules.intern,
				  object_row(writing, location.object), location.offset, function,
				  ret);
}

static int intern_place(struct writing *writing, struct location location, struct interned *ret)
{
	const struct profile *p = writing->profile;
	const struct profile_function *function = profile_find_function(p, location);
	struct interned row = INTERNED_NONE;

	if (function) {
		writing->led_to[function - p->functions] = true;
		row = writing->functions[function - p->functions];
	}
	return intern_address(writing, location, row, ret);
}

/* Both ends of a row; those of one that stands for others are in no function. */
static int intern_ends(struct writing *writing, bool is_other, const struct location ends[2],
		       struct interned ret[2])
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = is_other ? intern_address(writing, ends[i], INTERNED_NONE, &ret[i]) :
			       intern_place(writing, ends[i], &ret[i]);
	return r;
}

static int write_window(struct writing *writing, const struct window *window, int64_t horizon)
{
	struct statement *add = writing->write->statements[ADD_WINDOW];
	const struct profile_info *info = &writing->profile->info;
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
	const struct profile *p = writing->profile;
	int r = 0;

	writing->order.n = 0;
	for (size_t i = 0; i < p->n_processes; i++)
		row_order_add(&writing->order, writing->processes[i].id, 0, 0, i);
	row_order_sort(&writing->order);
	for (size_t i = 0; r >= 0 && i < writing->order.n; i++) {
		const struct row_order_key *row = &writing->order.rows[i];

		STATEMENT_BIND(add, writing->window, row->process, p->processes[row->index].samples,
			       p->processes[row->index].n_gone);
		r = statement_run(add);
	}
	return r;
}

/* A node above others needs a row only if samples were taken in it. */
static int list_stack(struct writing *writing, size_t i)
{
	const struct profile_stack *stack = &writing->profile->stacks[i];
	struct interned parent = INTERNED_NONE, place;
	int r;

	if (stack->parent != PROFILE_NONE)
		parent = writing->stacks[stack->parent];
	r = intern_place(writing, stack->frame, &place);
	if (r < 0)
		return r;
	if (!writing->inner[i] || stack->samples || stack->stitched || stack->weight)
		row_order_add(&writing->order, process_id(writing, stack->process), parent.id,
			      place.id, i);
	return writing->inner[i] ? store_intern_stack(writing->write->modules.intern, parent, place,
						      &writing->stacks[i]) :
				   0;
}

static int list_stacks(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].parent != PROFILE_NONE)
			writing->inner[p->stacks[i].parent] = true;
	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_stacks; i++)
		r = list_stack(writing, i);
	row_order_sort(&writing->order);
	return r;
}

/* After all rows of a table. */
static int flush_counts(struct writing *writing, enum profile_table table,
			const struct variance_column *column)
{
	int r = store_variances_write(&writing->write->variances, writing->window, table,
				      &writing->order, column);

	return r < 0 ? r : bulk_flush(&writing->write->counts[table]);
}

#define FLUSH_COUNTS(writing, table, name)                                                \
	flush_counts(writing, table,                                                      \
		     &(const struct variance_column){                                     \
			     (writing)->profile->name, sizeof(*(writing)->profile->name), \
			     offsetof(typeof(*(writing)->profile->name), variance) })

static int write_stacks(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_STACKS];
	int r;

	r = list_stacks(writing);
	for (size_t i = 0; r >= 0 && i < writing->order.n; i++) {
		const struct row_order_key *row = &writing->order.rows[i];
		const struct profile_stack *stack = &writing->profile->stacks[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, stack->samples,
			     stack->stitched, stack->weight, stack->pruned);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_STACKS, stacks);
}

static int intern_stream(struct writing *writing, size_t i)
{
	const struct profile_stream *stream = &writing->profile->streams[i];
	struct interned parent = INTERNED_NONE, ends[2];
	int r;

	if (stream->parent != PROFILE_NONE) {
		parent = writing->streams[stream->parent];
		writing->inner[stream->parent] = true;
	}
	r = intern_ends(writing, other_is_stream(stream),
			(const struct location[2]){ stream->from, stream->to }, ends);
	if (r < 0)
		return r;
	return store_intern_stream(writing->write->modules.intern, parent, ends[0], ends[1],
				   &writing->streams[i]);
}

static int list_streams(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	memset(writing->inner, 0, p->n_streams * sizeof(*writing->inner));
	for (size_t i = 0; r >= 0 && i < p->n_streams; i++)
		r = intern_stream(writing, i);
	writing->order.n = 0;
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *stream = &p->streams[i];

		if (!writing->inner[i] || stream->hits || stream->pruned || stream->cycles)
			row_order_add(&writing->order, process_id(writing, stream->process),
				      writing->streams[i].id, 0, i);
	}
	row_order_sort(&writing->order);
	return r;
}

static int write_streams(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_STREAMS];
	int r;

	r = list_streams(writing);
	for (size_t i = 0; r >= 0 && i < writing->order.n; i++) {
		const struct row_order_key *row = &writing->order.rows[i];
		const struct profile_stream *stream = &writing->profile->streams[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, stream->hits,
			     stream->pruned, stream->cycles);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_STREAMS, streams);
}

static int list_branches(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_branches; i++) {
		const struct profile_branch *branch = &p->branches[i];
		struct interned ends[2];

		r = intern_ends(writing, other_is_branch(branch),
				(const struct location[2]){ branch->from, branch->to }, ends);
		if (r >= 0)
			row_order_add(&writing->order, process_id(writing, branch->process),
				      ends[0].id, ends[1].id, i);
	}
	row_order_sort(&writing->order);
	return r;
}

static int write_branches(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_BRANCHES];
	int r;

	r = list_branches(writing);
	for (size_t i = 0; r >= 0 && i < writing->order.n; i++) {
		const struct row_order_key *row = &writing->order.rows[i];
		const struct profile_branch *branch = &writing->profile->branches[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, branch->taken,
			     branch->mispredicted, branch->predicted, branch->aborted,
			     branch->cycles, branch->cycles_rows, branch->kind);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_BRANCHES, branches);
}

static int list_blocks(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_blocks; i++) {
		const struct profile_block *block = &p->blocks[i];
		const struct location at[2] = { { block->object, block->start },
						{ block->object, block->end } };
		struct interned ends[2];

		r = intern_ends(writing, other_is_block(block), at, ends);
		if (r >= 0)
			row_order_add(&writing->order, process_id(writing, block->process),
				      ends[0].id, ends[1].id, i);
	}
	row_order_sort(&writing->order);
	return r;
}

static int write_blocks(struct writing *writing)
{
	struct bulk *counted = &writing->write->counts[PROFILE_BLOCKS];
	int r;

	r = list_blocks(writing);
	for (size_t i = 0; r >= 0 && i < writing->order.n; i++) {
		const struct row_order_key *row = &writing->order.rows[i];
		const struct profile_block *block = &writing->profile->blocks[row->index];

		r = BULK_ADD(counted, writing->window, row->process, row->a, row->b, block->runs,
			     block->cycles, block->cycles_rows);
	}
	return r < 0 ? r : FLUSH_COUNTS(writing, PROFILE_BLOCKS, blocks);
}

static int write_outer_functions(struct writing *writing)
{
	struct statement *add = writing->write->statements[ADD_OUTER_FUNCTION];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < writing->profile->n_functions; i++) {
		if (writing->led_to[i])
			continue;
		STATEMENT_BIND(add, writing->window, writing->functions[i].id);
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
	r = store_counters_write(modules->counters, writing->window, &writing->profile->counters);
	if (r >= 0)
		r = intern_short_tables(writing);
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
		r = store_functions_write(modules->functions, writing->window, writing->profile,
					  writing->processes, writing->objects, writing->functions);
	return r < 0 ? r : store_intern_finish(modules->intern);
}

int store_write_window(struct store_write *write, int64_t id, int64_t horizon,
		       const struct window *window, const struct profile *profile)
{
	_cleanup_(writing_done) struct writing writing = {
		.write = write,
		.profile = profile,
		.window = id,
	};
	int r;

	r = store_intern_begin(write->modules.intern, id, horizon);
	if (r >= 0)
		r = writing_init(&writing);
	if (r >= 0)
		r = write_window(&writing, window, horizon);
	if (r >= 0)
		r = write_tables(&writing);
	return r < 0 ? r : store_code_keep(write->modules.code, profile, writing.functions);
}

/* The counts of a window whose row is there. */
static int write_counts(struct store_write *write, int64_t id, const struct profile *profile)
{
	_cleanup_(writing_done) struct writing writing = {
		.write = write,
		.profile = profile,
		.window = id,
	};
	int r = writing_init(&writing);

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
	_cleanup_(writing_done) struct writing writing = { .write = write, .profile = profile };
	int r = store_intern_begin_sum(write->modules.intern, newest, horizon);

	if (r >= 0)
		r = writing_init(&writing);
	if (r >= 0)
		r = intern_short_tables(&writing);
	if (r >= 0)
		r = list_stacks(&writing);
	if (r >= 0)
		r = list_streams(&writing);
	if (r >= 0)
		r = list_branches(&writing);
	if (r >= 0)
		r = list_blocks(&writing);
	return r < 0 ? r : store_intern_finish(write->modules.intern);
}
