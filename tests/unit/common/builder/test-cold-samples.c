/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples of which some are captured more rarely than others, from the builder to their shares. A
 * program has a hot function (60 % of its samples) and a cold one, each with two callers; a sample
 * has a branch of its function. That is repeated with other random numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "common/profile/scale.h"
#include "common/profile/spread.h"
#include "tests/support/builder-window.h"

#define WINDOWS 200
#define SAMPLES 6000
#define CAPTURE 0.4 /* of the hot ones */

enum { HOT, COLD, N_FUNCTIONS };

static const double hot_part = 0.6, first_parts[N_FUNCTIONS] = { 0.7, 0.5 };

static uint64_t state;

/* Below 1 (Knuth, MMIX). */
static double next(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static uint64_t start_of(int function)
{
	return 0x1000u + 0x1000u * (unsigned int)function;
}

static uint64_t caller_of(int function, bool first)
{
	return 0x8010u + 0x200u * (unsigned int)function + 0x100u * first;
}

static void take(struct window *w, int function, bool first)
{
	uint64_t at = CODE + start_of(function);
	const struct branch_record row = { at + 0x10, at + 0x20, 0 };
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, at,
				   CODE + caller_of(function, first) };
	bool captured = next() < (function == HOT ? CAPTURE : CAPTURE / SPREAD_COLD_WEIGHT);
	struct sample sample = { .ip = at,
				 .callchain = chain,
				 .n_callchain = 3,
				 .has_rows = true,
				 .rows = &row,
				 .n_rows = 1,
				 .cold = function == COLD };
	struct builder_ticks tick = { at, 1, 10 };
	struct process_context *context = processes_find(w->processes, PID);

	if (captured)
		add_sample(w, sample);
	else
		assert_int_equal(builder_add_ticks(w->builder, w->processes, context, &tick), 0);
}

/* One window of the program. */
static struct profile *run(uint64_t seed)
{
	struct profile *p;
	struct window w;

	state = seed * 7919;
	window_open(&w);
	for (int i = 0; i < SAMPLES; i++) {
		int function = next() < hot_part ? HOT : COLD;

		take(&w, function, next() < first_parts[function]);
	}
	assert_int_equal(builder_close(w.builder, w.processes, &p), 0);
	for (int i = 0; i < N_FUNCTIONS; i++)
		profile_add_function(p, &(struct profile_function){
						.start = start_of(i), .size = 0x100, .name = "f" });
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_spread_ticks(p), 0);
	window_done(&w);
	return p;
}

/* A count, and the intervals of 95 % that are stated for its share of all. */
struct counted {
	uint64_t n, all;
	double unit;
};

static struct counted count_stack(const struct profile *p, int function, bool first)
{
	uint64_t n = 0, variance = 0, all = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		all += s->frame.offset == start_of(function) ? s->samples : 0;
		if (s->parent == PROFILE_NONE || s->frame.offset != start_of(function) ||
		    p->stacks[s->parent].frame.offset / 0x100 != caller_of(function, first) / 0x100)
			continue;
		n += s->samples;
		variance += s->variance;
	}
	return (struct counted){ n, p->counters.samples,
				 profile_stack_unit(&p->counters, n, variance, all) };
}

/* Its samples are ticks, too: nothing is estimated. */
static struct counted count_function(const struct profile *p, int function)
{
	uint64_t n = count_stack(p, function, false).n + count_stack(p, function, true).n;

	return (struct counted){ n, p->counters.samples, profile_sample_unit(&p->counters) };
}

static struct counted count_branch(const struct profile *p, int function)
{
	const struct profile_branch *b = p->branches, *end = b + p->n_branches;

	while (b < end && b->from.offset != start_of(function) + 0x10)
		b++;
	assert_true(b < end);
	return (struct counted){ b->taken, p->counters.rows_counted,
				 profile_row_unit(&p->counters, b->taken, b->variance) };
}

static struct counted count_stream(const struct profile *p, int function)
{
	const struct profile_stream *s = p->streams, *end = s + p->n_streams;

	while (s < end && s->from.offset != start_of(function) + 0x10)
		s++;
	assert_true(s < end);
	return (struct counted){ s->hits, p->counters.streams,
				 profile_row_unit(&p->counters, s->hits, s->variance) };
}

static double share_of(const struct counted *counted)
{
	return (double)counted->n / (double)counted->all;
}

/* Whether the interval, Wilson's, holds @truth. */
static bool holds(const struct counted *counted, double truth)
{
	double n = (double)counted->all / counted->unit, z = 1.96;
	double off = share_of(counted) - truth;

	return off * off <= z * z * truth * (1 - truth) / n;
}

enum {
	HOT_FUNCTION, /* the rest is the cold one's */
	HOT_STACK,
	COLD_STACK,
	HOT_BRANCH,
	COLD_BRANCH,
	HOT_STREAM,
	COLD_STREAM,
	N_SHARES
};

static const char *const names[N_SHARES] = { "hot function", "hot stack",   "cold stack",
					     "hot branch",   "cold branch", "hot stream",
					     "cold stream" };

static void test_shares_are_within_their_intervals(void **unused)
{
	const double hot = hot_part, cold = 1 - hot_part;
	const double truth[N_SHARES] = {
		hot, hot * first_parts[HOT], cold * first_parts[COLD], hot, cold, hot, cold
	};
	double sum[N_SHARES] = { 0 };
	int n_within[N_SHARES] = { 0 };

	for (uint64_t seed = 1; seed <= WINDOWS; seed++) {
		_cleanup_(profile_freep) struct profile *p = run(seed);
		const struct counted shares[N_SHARES] = {
			count_function(p, HOT),     count_stack(p, HOT, true),
			count_stack(p, COLD, true), count_branch(p, HOT),
			count_branch(p, COLD),      count_stream(p, HOT),
			count_stream(p, COLD),
		};

		assert_int_equal(p->counters.samples, SAMPLES);
		assert_int_equal(p->counters.weight, 10 * SAMPLES);
		assert_int_equal(p->processes[0].samples, SAMPLES);
		assert_int_equal(p->n_processes, 1);
		for (int i = 0; i < N_SHARES; i++) {
			sum[i] += share_of(&shares[i]) / WINDOWS;
			n_within[i] += holds(&shares[i], truth[i]);
		}
	}
	for (int i = 0; i < N_SHARES; i++) {
		print_message("%s: %.4f of %.4f, within its interval in %.1f %%\n", names[i],
			      sum[i], truth[i], 100.0 * n_within[i] / WINDOWS);
		assert_true(sum[i] > truth[i] - 0.006 && sum[i] < truth[i] + 0.006);
	}
	/* none is stated more precise than it is, nor less */
	for (int i = 0; i < N_SHARES; i++)
		assert_in_range(n_within[i], 0.92 * WINDOWS, 0.98 * WINDOWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_are_within_their_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
