/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the big recording that the speed of reading is measured with: samples of 32 branch rows of
 * the processes in population.h, whose programs' text is that of branch-paths.h. All of it is
 * pseudo-random with a fixed seed, so each run makes the same file.
 *
 *     generate-recording FILE DIR TEXT_OFFSET N_SAMPLES
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/benchmark/branch-paths.h"
#include "tests/benchmark/population.h"

#define ROWS 32

struct generator {
	struct population population;
	struct branch_paths paths;
};

static void add_sample_of(void *userdata, unsigned int cpu, uint64_t number)
{
	struct generator *g = userdata;
	struct population *p = &g->population;
	struct perf_branch_entry rows[ROWS];
	unsigned int process = population_below(p, N_PROCESSES), n = ROWS;
	struct perfdata_sample s = { .misc = PERF_RECORD_MISC_USER, .period = PERIOD };

	if (population_below(p, 16) == 0) /* lately switched in: 31 rows a sample in the mean */
		n = population_below(p, ROWS);
	s.id = population_id(process, cpu, number);
	s.ip = branch_paths_walk(&g->paths, p, p->base[process] + p->text_offset, rows, n);
	s.rows = rows;
	s.n_rows = n;
	perfdata_add_sample(p->file, &s);
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
		branch_paths_make(&g.paths, &g.population);
		r = population_add(&g.population, argv[2],
				   (uint64_t)BRANCH_PATHS_N * BRANCH_PATH_BYTES);
	}
	if (r >= 0)
		population_sample(&g.population, strtoull(argv[4], NULL, 0), add_sample_of, &g);
	return population_close(&g.population, r);
}
