/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/naive/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_RUN (1024 * 1024)

enum verdict {
	SOUND,
	ZERO,
	WRONG_PATH,
	DUPLICATE,
};

static bool same_branch(const struct branch_record *a, const struct branch_record *b)
{
	return a->from == b->from && a->to == b->to;
}

static enum verdict check_record(const struct naive_rules *rules, const struct sample *s,
				 uint32_t i)
{
	const struct branch_record *row = &s->rows[i];

	if (!row->from || !row->to)
		return ZERO;
	if (rules->duplicate_depth && s->n_rows == rules->duplicate_depth && i == 0 &&
	    s->n_rows > 2 && same_branch(row, row + 1) && !same_branch(row, row + 2))
		return DUPLICATE;
	return (row->flags >> 24) % 4 == 1 ? WRONG_PATH : SOUND;
}

static void count_row(struct naive_counts *counts, const struct naive *naive, int32_t pid,
		      const struct branch_record *row, enum verdict verdict)
{
	struct naive_place from = naive_locate(naive, pid, row->from);
	struct naive_place to = naive_locate(naive, pid, row->to);
	uint64_t cycles = row->flags >> 4 & 0xffff;
	struct tally_entry e = {
		.key = { (uint32_t)pid, from.object, from.offset, to.object, to.offset },
		.count = { 1, row->flags & 1, row->flags >> 3 & 1, cycles, cycles ? 1 : 0,
			   row->flags >> 1 & 1 },
	};

	counts->counters.rows++;
	switch (verdict) {
	case ZERO:
		counts->counters.rows_zero++;
		return;
	case WRONG_PATH:
		counts->counters.rows_wrong_path++;
		return;
	case DUPLICATE:
		counts->counters.rows_duplicate++;
		return;
	case SOUND:
		counts->counters.rows_counted++;
		counts->counters.cycles += cycles;
		tally_add(&counts->branches, &e);
	}
}

/* The run from where @older went to, to where @newer came from; both are sound. */
static void count_run(struct naive_counts *counts, const struct naive *naive, int32_t pid,
		      const struct branch_record *older, const struct branch_record *newer)
{
	struct naive_place start = naive_locate(naive, pid, older->to);
	struct naive_place end = naive_locate(naive, pid, newer->from);
	uint64_t cycles = newer->flags >> 4 & 0xffff, n_bytes = newer->from - older->to;
	struct tally_entry e = {
		.key = { (uint32_t)pid, start.object, start.offset, end.offset },
		.count = { 1, cycles, cycles ? 1 : 0 },
	};

	if (newer->from < older->to)
		counts->counters.runs_backward++;
	else if (n_bytes > MAX_RUN)
		counts->counters.runs_long++;
	else if (start.object != end.object || start.object == 0 ||
		 end.offset - start.offset != n_bytes)
		counts->counters.runs_across++;
	else {
		counts->counters.runs_counted++;
		tally_add(&counts->blocks, &e);
	}
}

static void count_raw(struct naive_counts *counts, const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_rows; i++) {
		struct tally_entry pair = { .key = { s->rows[i].from, s->rows[i].to },
					    .count = { 1 } };

		tally_add(&counts->pairs, &pair);
		if (i + 1 < s->n_rows) {
			struct tally_entry run = { .key = { s->rows[i + 1].to, s->rows[i].from },
						   .count = { 1 } };

			tally_add(&counts->runs, &run);
		}
	}
}

/* A sample has a stream if its newest record is sound; a duplicate is passed over. */
static void count_stream(struct naive_counts *counts, const struct naive_rules *rules,
			 const struct sample *s)
{
	enum verdict newest = s->n_rows > 0 ? check_record(rules, s, 0) : ZERO;

	if (newest == DUPLICATE)
		newest = check_record(rules, s, 1);
	if (newest == SOUND)
		counts->counters.streams++;
	else if (s->n_rows > 0)
		counts->counters.streams_invalid++;
}

static void count_rows(struct naive_counts *counts, const struct naive *naive,
		       const struct naive_rules *rules, int32_t pid, const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_rows; i++) {
		enum verdict newer = check_record(rules, s, i), older;

		count_row(counts, naive, pid, &s->rows[i], newer);
		if (i + 1 == s->n_rows)
			break;
		older = check_record(rules, s, i + 1);
		counts->counters.runs++;
		if (s->gaps)
			counts->counters.runs_filtered++;
		else if (newer == SOUND && older == SOUND)
			count_run(counts, naive, pid, &s->rows[i + 1], &s->rows[i]);
		else
			counts->counters.runs_skipped_rows++;
	}
}

/* The sampled address: the first of the chain that is one, or else the sample's own. */
static uint64_t leaf(const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_callchain; i++)
		if (s->callchain[i] != 0 && s->callchain[i] < (uint64_t)-4095)
			return s->callchain[i];
	return s->ip;
}

static void count_skipped(struct profile_counters *c, const struct sample *s)
{
	uint64_t n_runs = s->n_rows ? s->n_rows - 1 : 0;

	c->rows += s->n_rows;
	c->rows_skipped_samples += s->n_rows;
	c->runs += n_runs;
	c->runs_skipped_samples += n_runs;
}

static void count_sample(struct naive_counts *counts, const struct naive *naive,
			 const struct naive_rules *rules, const struct event *event)
{
	struct profile_counters *c = &counts->counters;
	const struct sample *s = &event->sample;
	struct naive_place place = naive_locate(naive, event->pid, leaf(s));
	struct tally_entry e = {
		.key = { (uint32_t)event->pid, place.object, place.offset },
		.count = { 1, s->period },
	};

	count_raw(counts, s);
	if (event->source != rules->source) {
		c->samples_other_event++;
		count_skipped(c, s);
	} else if (s->mode > CPU_MODE_USER) {
		c->samples_guest++;
		count_skipped(c, s);
	} else {
		c->samples++;
		c->weight += s->period;
		c->unmapped += place.object == 0;
		c->snapshots_empty += s->has_rows && s->n_rows == 0;
		tally_add(&counts->leaves, &e);
		count_stream(counts, rules, s);
		count_rows(counts, naive, rules, event->pid, s);
	}
}

void naive_count(struct naive_counts *counts, const struct naive *naive,
		 const struct naive_rules *rules, const struct event *event)
{
	struct profile_counters *c = &counts->counters;

	if (event->kind == EVENT_SAMPLE)
		count_sample(counts, naive, rules, event);
	else if (event->kind == EVENT_LOST && event->lost.samples)
		c->lost_samples += event->lost.n;
	else if (event->kind == EVENT_LOST)
		c->lost_records += event->lost.n;
	else if (event->kind == EVENT_THROTTLE)
		c->throttled++;
}

static struct naive_place place_of(struct naive *naive, const struct profile *p,
				   struct location location)
{
	const struct profile_object *o;

	if (location.object == PROFILE_NONE)
		return (struct naive_place){ 0, location.offset };
	o = &p->objects[location.object];
	if (o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE)
		return (struct naive_place){ NAIVE_KERNEL, profile_raw_address(p, location) };
	return (struct naive_place){ naive_object(naive, o->path), location.offset };
}

static void count_profile_rows(struct naive_counts *counts, struct naive *naive,
			       const struct profile *p)
{
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];
		struct naive_place from = place_of(naive, p, b->from);
		struct naive_place to = place_of(naive, p, b->to);
		struct tally_entry e = {
			.key = { (uint32_t)p->processes[b->process].pid, from.object, from.offset,
				 to.object, to.offset },
			.count = { b->taken, b->mispredicted, b->aborted, b->cycles, b->cycles_rows,
				   b->predicted },
		};

		tally_add(&counts->branches, &e);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];
		struct location at = { b->object, b->start }, to = { b->object, b->end };
		struct naive_place start = place_of(naive, p, at), end = place_of(naive, p, to);
		struct tally_entry e = {
			.key = { (uint32_t)p->processes[b->process].pid, start.object, start.offset,
				 end.offset },
			.count = { b->runs, b->cycles, b->cycles_rows },
		};

		tally_add(&counts->blocks, &e);
	}
}

void naive_count_profile(struct naive_counts *counts, struct naive *naive,
			 const struct profile *profile)
{
	counts->counters = profile->counters;
	count_profile_rows(counts, naive, profile);
	for (size_t i = 0; i < profile->n_stacks; i++) {
		const struct profile_stack *s = &profile->stacks[i];
		struct naive_place place = place_of(naive, profile, s->frame);
		struct tally_entry e = {
			.key = { (uint32_t)profile->processes[s->process].pid, place.object,
				 place.offset },
			.count = { s->samples, s->weight },
		};

		if (s->samples > 0)
			tally_add(&counts->leaves, &e);
	}
}

void naive_counts_merge(struct naive_counts *counts)
{
	tally_merge(&counts->pairs);
	tally_merge(&counts->runs);
	tally_merge(&counts->branches);
	tally_merge(&counts->blocks);
	tally_merge(&counts->leaves);
}

void naive_counts_done(struct naive_counts *counts)
{
	tally_done(&counts->pairs);
	tally_done(&counts->runs);
	tally_done(&counts->branches);
	tally_done(&counts->blocks);
	tally_done(&counts->leaves);
}

/* This count does not know which paths are pruned. It takes their numbers from the counters. */
static bool streams_are_plausible(const struct profile_counters *c)
{
	if (c->streams_pruned <= c->streams &&
	    c->streams_error <= (c->streams + c->streams_limit) / 1000)
		return true;
	fprintf(stderr, "streams: %" PRIu64 " pruned, an error of %" PRIu64 "\n", c->streams_pruned,
		c->streams_error);
	return false;
}

static bool counters_equal(const struct profile_counters *all,
			   const struct profile_counters *expected)
{
	struct profile_counters sums = *all;
	const struct profile_counters *got = &sums;
	bool equal = streams_are_plausible(all);

	sums.streams += sums.streams_limit;
	sums.streams_limit = sums.streams_pruned = sums.streams_error = 0;
#define X(name, what)                                                                            \
	if (got->name != expected->name) {                                                       \
		fprintf(stderr, #name ": got %" PRIu64 " but expected %" PRIu64 "\n", got->name, \
			expected->name);                                                         \
		equal = false;                                                                   \
	}
	PROFILE_COUNTERS(X)
#undef X
	return equal;
}

bool naive_counts_equal(const struct naive_counts *got, const struct naive_counts *expected)
{
	bool equal = counters_equal(&got->counters, &expected->counters);

	equal &= tally_equal(&got->branches, &expected->branches, "branches");
	equal &= tally_equal(&got->blocks, &expected->blocks, "blocks");
	equal &= tally_equal(&got->leaves, &expected->leaves, "leaves");
	return equal;
}

bool naive_counters_balance(const struct profile_counters *c, uint64_t n_samples)
{
	return n_samples ==
		       c->samples + c->samples_other_event + c->samples_guest + c->samples_limit &&
	       c->rows == c->rows_counted + c->rows_skipped_samples + c->rows_zero +
				  c->rows_wrong_path + c->rows_duplicate + c->rows_call_stack +
				  c->rows_limit &&
	       c->runs == c->runs_counted + c->runs_skipped_samples + c->runs_skipped_rows +
				  c->runs_filtered + c->runs_call_stack + c->runs_backward +
				  c->runs_across + c->runs_long + c->runs_limit;
}
