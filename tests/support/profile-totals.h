/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stays the same in a profile whose rarest rows were pruned. */
#pragma once

#include "common/profile/profile.h"

static inline uint64_t count_samples(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		n += p->stacks[i].samples;
	return n;
}

static inline void assert_same_totals(const struct profile *whole, const struct profile *pruned)
{
	const struct profile_counters *a = &whole->counters, *b = &pruned->counters;

	assert_int_equal(count_samples(whole), count_samples(pruned));
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->runs, b->runs);
	assert_int_equal(a->rows_counted + a->rows_limit, b->rows_counted + b->rows_limit);
	assert_int_equal(a->runs_counted + a->runs_limit, b->runs_counted + b->runs_limit);
	assert_int_equal(a->streams + a->streams_limit, b->streams + b->streams_limit);
	assert_int_equal(whole->n_processes, pruned->n_processes);
	for (size_t i = 0; i < pruned->n_processes; i++)
		assert_int_equal(whole->processes[i].samples, pruned->processes[i].samples);
}
