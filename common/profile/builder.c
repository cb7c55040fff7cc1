/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/builder.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/builder-internal.h"
#include "common/util/array.h"

#define MAX_ROWS   (256u * 1024)
#define MAX_FRAMES (256u * 1024)
#define BATCH      64u /* rows judged, then counted, at a time */

int builder_new(struct builder **ret, const struct builder_settings *settings)
{
	_cleanup_(builder_freep) struct builder *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->settings = *settings;
	r = row_table_init(&b->rows, settings->max_rows ? settings->max_rows : MAX_ROWS);
	if (r < 0)
		return r;
	r = frame_table_init(&b->frames, settings->max_frames ? settings->max_frames : MAX_FRAMES);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

void builder_forget_contexts(struct builder *b)
{
	for (size_t i = 0; i < b->n_contexts; i++) {
		b->contexts[i].incarnation->context = PROFILE_NONE;
		incarnation_unref(b->contexts[i].incarnation);
	}
	b->n_contexts = 0;
}

struct builder *builder_free(struct builder *builder)
{
	if (!builder)
		return NULL;
	builder_forget_contexts(builder);
	free(builder->contexts);
	row_table_done(&builder->rows);
	frame_table_done(&builder->frames);
	free(builder);
	return NULL;
}

/* The number of the incarnation in this window; its first sample in it makes it one. */
static int get_context(struct builder *b, struct incarnation *incarnation, uint32_t *ret)
{
	if (_unlikely_(incarnation->context == PROFILE_NONE)) {
		if (ARRAY_RESERVE(&b->contexts, &b->cap_contexts, b->n_contexts + 1) < 0)
			return -ENOMEM;
		b->contexts[b->n_contexts] =
			(struct context){ .incarnation = incarnation_ref(incarnation) };
		incarnation->context = (uint32_t)b->n_contexts++;
	}
	*ret = incarnation->context;
	return 0;
}

/*
 * The rows to believe, oldest first, each with where the run before it began. A row set aside breaks
 * the chain: nothing is known of the run before it, nor of the one after.
 */
static size_t judge_rows(struct profile_counters *c, const struct row *rows, size_t n,
			 uint64_t *begin, struct counted_row *ret)
{
	uint64_t before = *begin;
	size_t k = 0;

	for (size_t i = n; i-- > 0;) {
		const struct row *row = &rows[i];

		if (_unlikely_(row->from == 0 || row->to == 0)) {
			c->rows_zero++;
			before = 0;
		} else if (_unlikely_((row->flags & ROW_SPEC_MASK) == ROW_SPEC_WRONG_PATH)) {
			c->rows_wrong_path++;
			before = 0;
		} else {
			ret[k++] = (struct counted_row){ before, row->from, row->to, row->flags };
			before = row->to;
		}
	}
	*begin = before;
	return k;
}

/*
 * Skylake and its kin may write the oldest of all rows twice (as llvm-bolt found: DataAggregator,
 * NeedsSkylakeFix). Nowhere else are equal rows to be doubted: a tight loop makes them.
 */
static bool is_doubled(const struct builder *b, const struct row *rows, size_t n)
{
	const struct row *oldest = &rows[n - 1], *next = &rows[n - 2];

	return n == b->settings.doubled && n >= 2 && oldest->from != 0 &&
	       oldest->from == next->from && oldest->to == next->to &&
	       oldest->flags == next->flags;
}

static int count_rows(struct builder *b, uint32_t context, const struct sample *s)
{
	struct profile_counters *c = &b->counters;
	struct counted_row batch[BATCH];
	struct row_table_full full = { 0 };
	size_t n = s->n_rows, n_with_run = 0;
	uint64_t begin = 0;
	int r;

	c->rows += n;
	c->runs += n > 0 ? n - 1 : 0;
	if (n > 0 && is_doubled(b, s->rows, n)) {
		c->rows_doubled++;
		c->runs_beside++;
		n--;
	}
	for (size_t left = n; left > 0;) {
		size_t n_batch = MIN(left, (size_t)BATCH);
		size_t k = judge_rows(c, s->rows + left - n_batch, n_batch, &begin, batch);

		for (size_t i = 0; i < k; i++)
			n_with_run += batch[i].begin != 0;
		r = row_table_add(&b->rows, context, batch, k, &full);
		if (r < 0)
			return r;
		left -= n_batch;
	}
	c->rows_limit += full.rows;
	c->runs_limit += full.runs;
	if (n > 0)
		c->runs_beside += n - 1 - n_with_run;
	return 0;
}

/*
 * What the kernel writes into a chain instead of an address, to say of which kind the next ones are
 * (PERF_CONTEXT_MAX in linux/perf_event.h).
 */
static bool is_marker(uint64_t address)
{
	return address >= (uint64_t)-4095;
}

/*
 * Walks the chain from its outermost frame to the leaf. All but the leaf, and the user's address that
 * entered the kernel, are return addresses: one less lies in the call.
 */
static int64_t find_stack(struct builder *b, uint32_t context, const struct sample *s)
{
	int64_t node = FRAME_ROOT, next;

	for (uint32_t i = s->n_callchain; i-- > 0;) {
		uint64_t address = s->callchain[i];
		bool exact = i == 0 || is_marker(s->callchain[i - 1]);

		if (is_marker(address) || address == 0)
			continue;
		next = frame_table_get(&b->frames, context, (uint32_t)node, address - !exact);
		if (next == -ENOSPC) {
			b->counters.frames_limit++;
			return node == FRAME_ROOT ? -ENOSPC : node;
		}
		if (next < 0)
			return next;
		node = next;
	}
	if (node != FRAME_ROOT)
		return node;
	return frame_table_get(&b->frames, context, FRAME_ROOT, s->ip);
}

static void set_aside(struct builder *b, const struct sample *s, uint64_t *reason)
{
	(*reason)++;
	b->counters.rows += s->n_rows;
	b->counters.rows_aside += s->n_rows;
	if (s->n_rows > 0) {
		b->counters.runs += s->n_rows - 1;
		b->counters.runs_aside += s->n_rows - 1;
	}
}

static void set_call_stack_aside(struct profile_counters *c, const struct sample *s)
{
	c->rows += s->n_rows;
	c->rows_call_stack += s->n_rows;
	if (s->n_rows > 0) {
		c->runs += s->n_rows - 1;
		c->runs_call_stack += s->n_rows - 1;
	}
}

static int count_sample(struct builder *b, struct processes *processes, const struct event *e)
{
	struct incarnation *incarnation = processes_find(processes, e->pid);
	const struct sample *s = &e->sample;
	struct profile_counters *c = &b->counters;
	struct frame_node *leaf;
	uint32_t context;
	int64_t node;

	if (!incarnation || get_context(b, incarnation, &context) < 0)
		return -ENOMEM;
	node = find_stack(b, context, s);
	if (node == -ENOSPC) {
		set_aside(b, s, &c->samples_limit);
		return 0;
	}
	if (node < 0)
		return (int)node;
	leaf = &b->frames.nodes[node];
	leaf->samples++;
	leaf->weight += s->period;
	b->contexts[context].samples++;
	c->samples++;
	c->weight += s->period;
	c->snapshots_empty += s->has_rows && s->n_rows == 0;
	if (e->time_ns != 0) {
		b->start_ns = b->start_ns == 0 ? e->time_ns : MIN(b->start_ns, e->time_ns);
		b->end_ns = MAX(b->end_ns, e->time_ns);
	}
	if (b->settings.call_stack_rows) {
		set_call_stack_aside(c, s);
		return 0;
	}
	return count_rows(b, context, s);
}

int builder_add(struct builder *builder, struct processes *processes, const struct event *event)
{
	struct profile_counters *c = &builder->counters;

	switch (event->kind) {
	case EVENT_SAMPLE:
		if (event->source != builder->settings.source) {
			set_aside(builder, &event->sample, &c->samples_other_event);
			return 0;
		}
		if (event->sample.mode >= CPU_MODE_HYPERVISOR) {
			set_aside(builder, &event->sample, &c->samples_guest);
			return 0;
		}
		return count_sample(builder, processes, event);
	case EVENT_LOST:
		*(event->lost.samples ? &c->lost_samples : &c->lost_records) += event->lost.n;
		return 0;
	case EVENT_THROTTLE:
		c->throttled++;
		return 0;
	default:
		return 0;
	}
}
