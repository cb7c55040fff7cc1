/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/spread-records.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* What the tables of branches, blocks and streams are spread by. */
struct records {
	struct profile *p;
	const struct spread_captured *processes;
	double unit;
};

static void scale_branch(struct profile_branch *row, uint64_t taken)
{
	uint64_t before = row->taken;

	row->mispredicted = spread_share_of(row->mispredicted, taken, before);
	row->predicted =
		MIN(spread_share_of(row->predicted, taken, before), taken - row->mispredicted);
	row->aborted = spread_share_of(row->aborted, taken, before);
	row->cycles = spread_share_of(row->cycles, taken, before);
	row->cycles_rows = spread_share_of(row->cycles_rows, taken, before);
	row->taken = taken;
}

static void scale_block(struct profile_block *row, uint64_t runs)
{
	row->cycles = spread_share_of(row->cycles, runs, row->runs);
	row->cycles_rows = spread_share_of(row->cycles_rows, runs, row->runs);
	row->runs = runs;
}

/* Of one table: all rows of a process, and what they were spread to so far. */
struct running {
	struct spread_weights all;
	uint64_t sum, before;
};

static void add_to_process(struct running *processes, uint32_t process, uint64_t n,
			   uint64_t surplus)
{
	struct spread_weights *all = &processes[process].all;

	all->sum += n;
	all->squares += spread_squares_of(n, surplus);
}

/*
 * Spreads a row that counted @n, and *@estimated beyond those taken, which becomes its variance. As
 * its share of the process is a ratio, what varies is both the row and the others (Cochran, 6.3):
 * (1 - share)² the variance of the one, plus share² that of the others.
 */
static uint64_t spread_row(const struct records *s, uint32_t process, struct running *processes,
			   uint64_t n, uint64_t *estimated)
{
	const struct spread_captured *captured = &s->processes[process];
	struct running *running = &processes[process];
	const struct spread_weights row = { n, spread_squares_of(n, *estimated) };
	const struct spread_weights rest = { running->all.sum - row.sum,
					     running->all.squares - row.squares };
	double share = (double)n / (double)(running->all.sum ?: 1), excess;
	uint64_t spread;

	*estimated = 0;
	if (captured->captured == 0 || n == 0)
		return n;
	running->sum += n;
	spread = spread_grow(captured->samples, running->sum, captured->captured, &running->before);
	excess = (1 - share) * (double)row.squares / (double)row.sum;
	if (rest.sum > 0)
		excess += share * (double)rest.squares / (double)rest.sum;
	excess = excess * (double)captured->samples / (double)captured->captured - 1;
	*estimated = (uint64_t)(MAX(excess, 0.0) * (double)spread * s->unit + 0.5);
	return spread;
}

static void spread_branches(const struct records *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.rows_counted = p->counters.cycles = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		add_to_process(processes, p->branches[i].process, p->branches[i].taken,
			       p->branches[i].surplus);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *row = &p->branches[i];

		scale_branch(row,
			     spread_row(s, row->process, processes, row->taken, &row->variance));
		p->counters.rows_counted += row->taken;
		p->counters.cycles += row->cycles;
	}
}

static void spread_blocks(const struct records *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.runs_counted = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		add_to_process(processes, p->blocks[i].process, p->blocks[i].runs,
			       p->blocks[i].surplus);
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		scale_block(row, spread_row(s, row->process, processes, row->runs, &row->variance));
		p->counters.runs_counted += row->runs;
	}
}

static void spread_streams(const struct records *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.streams = 0;
	for (size_t i = 0; i < p->n_streams; i++)
		add_to_process(processes, p->streams[i].process, p->streams[i].hits,
			       p->streams[i].surplus);
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream *row = &p->streams[i];
		const struct spread_captured *process = &s->processes[row->process];
		uint64_t hits = spread_row(s, row->process, processes, row->hits, &row->variance);

		p->counters.streams += hits;
		if (process->captured == 0)
			continue;
		row->pruned = MIN(spread_share_of(row->pruned, process->samples, process->captured),
				  hits);
		row->cycles = spread_share_of(row->cycles, process->samples, process->captured);
		row->hits = hits;
	}
}

int spread_records(struct profile *profile, const struct spread_captured *captured, double unit)
{
	static void (*const tables[])(const struct records *s, struct running *processes) = {
		spread_branches,
		spread_blocks,
		spread_streams,
	};

	const struct records s = { profile, captured, unit };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		_cleanup_free_ struct running *processes = NULL;

		if (ARRAY_ALLOCATE_ZEROED(&processes, profile->n_processes) < 0)
			return -ENOMEM;
		tables[i](&s, processes);
	}
	return 0;
}
