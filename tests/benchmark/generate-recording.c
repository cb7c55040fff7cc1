/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the big recording that the speed of reading is measured with: samples of 32 branch rows of
 * the processes in population.h.
 *
 * The programs' text holds N_PATHS functions of PATH_BYTES each. A function is a loop of blocks
 * with one call site; a sample is taken somewhere in one, the hot ones (1/rank^2) more often, and
 * its rows are the way that led there: round the loop, now and then past a block or two, now and
 * then into the function called and not back. All of it is pseudo-random with a fixed seed, so each
 * run makes the same file.
 *
 *     generate-recording FILE DIR TEXT_OFFSET N_SAMPLES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/benchmark/population.h"

#define N_PATHS    64
#define PATH_BYTES 0x400
#define MAX_STEPS  24
#define ROWS       32

/* A loop: blocks of code, each ending in a branch to the next; some have a second way out. */
struct path {
	unsigned int n_steps;
	unsigned int callee, call_site;            /* a path, and the step that may call it */
	uint16_t start[MAX_STEPS], end[MAX_STEPS]; /* offsets in the function */
};

struct generator {
	struct population population;
	struct path paths[N_PATHS];
	double zipf[N_PATHS]; /* cumulative */
};

static unsigned int below(struct generator *g, unsigned int n)
{
	return population_below(&g->population, n);
}

static void make_paths(struct generator *g)
{
	double sum = 0;

	for (unsigned int i = 0; i < N_PATHS; i++) {
		struct path *p = &g->paths[i];
		unsigned int at = 0;

		p->n_steps = 3 + below(g, MAX_STEPS - 3);
		for (unsigned int k = 0; k < p->n_steps; k++) {
			p->start[k] = (uint16_t)at;
			at += 4 + below(g, 30);
			p->end[k] = (uint16_t)at;
			at += 2 + below(g, 6);
		}
		p->callee = below(g, N_PATHS);
		p->call_site = below(g, p->n_steps);
		sum += 1.0 / ((i + 1.0) * (i + 1));
		g->zipf[i] = sum;
	}
	for (unsigned int i = 0; i < N_PATHS; i++)
		g->zipf[i] /= sum;
}

static unsigned int pick_path(struct generator *g)
{
	double x = (double)(population_random(&g->population) >> 11) / (double)(1ull << 53);
	unsigned int low = 0, high = N_PATHS - 1;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (g->zipf[middle] < x)
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
static struct place step(struct generator *g, struct place p)
{
	const struct path *path = &g->paths[p.path];
	unsigned int dice = below(g, 64);

	if (p.step == path->call_site && dice < 4)
		return (struct place){ path->callee, 0 };
	p.step += dice < 8 ? 2 : 1;
	if (p.step >= path->n_steps)
		p.step = 0;
	return p;
}

static uint64_t address(const struct generator *g, unsigned int process, struct place p, bool end)
{
	const struct path *path = &g->paths[p.path];

	return g->population.base[process] + g->population.text_offset +
	       (uint64_t)p.path * PATH_BYTES + (end ? path->end[p.step] : path->start[p.step]);
}

/* Rows newest first; the address reached in the end. */
static uint64_t make_rows(struct generator *g, unsigned int process, struct perf_branch_entry *rows,
			  unsigned int n)
{
	struct place at = { pick_path(g), 0 };

	at.step = below(g, g->paths[at.path].n_steps);
	for (unsigned int i = n; i-- > 0;) {
		struct perf_branch_entry *row = &rows[i];

		memset(row, 0, sizeof(*row));
		row->from = address(g, process, at, true);
		at = step(g, at);
		row->to = address(g, process, at, false);
		row->mispred = below(g, 32) == 0;
		row->predicted = !row->mispred;
		row->cycles = 1 + (row->from >> 1) % 40;
	}
	return address(g, process, at, false);
}

static void add_sample_of(void *userdata, unsigned int cpu, uint64_t number)
{
	struct generator *g = userdata;
	struct perf_branch_entry rows[ROWS];
	unsigned int process = below(g, N_PROCESSES), n = ROWS;
	struct perfdata_sample s = { .misc = PERF_RECORD_MISC_USER, .period = PERIOD };

	if (below(g, 16) == 0) /* lately switched in: 31 rows a sample in the mean */
		n = below(g, ROWS);
	s.id = population_id(process, cpu, number);
	s.ip = make_rows(g, process, rows, n);
	s.rows = rows;
	s.n_rows = n;
	perfdata_add_sample(g->population.file, &s);
}

int main(int argc, char **argv)
{
	static struct generator g;
	int r;

	if (argc != 5) {
		fprintf(stderr, "usage: generate-recording FILE DIR TEXT_OFFSET N_SAMPLES\n");
		return 2;
	}
	r = population_open(&g.population, argv[1],
			    PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, 0, argv[3]);
	if (r >= 0) {
		make_paths(&g);
		r = population_add(&g.population, argv[2], (uint64_t)N_PATHS * PATH_BYTES);
	}
	if (r >= 0)
		population_sample(&g.population, strtoull(argv[4], NULL, 0), add_sample_of, &g);
	return population_close(&g.population, r);
}
