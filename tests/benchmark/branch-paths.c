/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/benchmark/branch-paths.h"

#include <stdbool.h>
#include <string.h>

void branch_paths_make(struct branch_paths *b, struct population *population)
{
	double sum = 0;

	for (unsigned int i = 0; i < BRANCH_PATHS_N; i++) {
		struct branch_path *p = &b->paths[i];
		unsigned int at = 0;

		p->n_steps = 3 + population_below(population, MAX_STEPS - 3);
		for (unsigned int k = 0; k < p->n_steps; k++) {
			p->start[k] = (uint16_t)at;
			at += 4 + population_below(population, 30);
			p->end[k] = (uint16_t)at;
			at += 2 + population_below(population, 6);
		}
		p->callee = population_below(population, BRANCH_PATHS_N);
		p->call_site = population_below(population, p->n_steps);
		sum += 1.0 / ((i + 1.0) * (i + 1));
		b->zipf[i] = sum;
	}
	for (unsigned int i = 0; i < BRANCH_PATHS_N; i++)
		b->zipf[i] /= sum;
}

static unsigned int pick_path(const struct branch_paths *b, struct population *population)
{
	double x = (double)(population_random(population) >> 11) / (double)(1ull << 53);
	unsigned int low = 0, high = BRANCH_PATHS_N - 1;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (b->zipf[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct place {
	unsigned int path, step;
};

/* Where the branch at @p goes: on in its loop, sometimes past a block, sometimes into another
 * function. */
static struct place step(const struct branch_paths *b, struct population *population,
			 struct place p)
{
	const struct branch_path *path = &b->paths[p.path];
	unsigned int dice = population_below(population, 64);

	if (p.step == path->call_site && dice < 4)
		return (struct place){ path->callee, 0 };
	p.step += dice < 8 ? 2 : 1;
	if (p.step >= path->n_steps)
		p.step = 0;
	return p;
}

static uint64_t offset(const struct branch_paths *b, struct place p, bool end)
{
	const struct branch_path *path = &b->paths[p.path];

	return (uint64_t)p.path * BRANCH_PATH_BYTES +
	       (end ? path->end[p.step] : path->start[p.step]);
}

uint64_t branch_paths_walk(const struct branch_paths *b, struct population *population,
			   uint64_t text, struct perf_branch_entry *rows, unsigned int n)
{
	struct place at = { pick_path(b, population), 0 };

	at.step = population_below(population, b->paths[at.path].n_steps);
	for (unsigned int i = n; i-- > 0;) {
		struct perf_branch_entry *row = &rows[i];

		memset(row, 0, sizeof(*row));
		row->from = text + offset(b, at, true);
		at = step(b, population, at);
		row->to = text + offset(b, at, false);
		row->mispred = population_below(population, 32) == 0;
		row->predicted = !row->mispred;
		row->cycles = 1 + (row->from >> 1) % 40;
	}
	return text + offset(b, at, false);
}
