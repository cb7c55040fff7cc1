/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the big recording that the speed of stitching is measured with: samples in call-stack mode,
 * as `perf record --call-graph lbr` writes them (no cycles, no flags), of the processes in
 * population.h.
 *
 * Each process keeps to a CPU, where each sample is of another. It is a loop that goes down its
 * call graph, now and then to where deeper stacks are. A function has N_SITES calls, to functions
 * further on, and a few back (recursion). Between two samples of a process there are calls and
 * returns near its leaf, mostly; now and then it returns from more, and seldom from nearly all. Its
 * branch record is the simulator's.
 *
 *     generate-stacks FILE DIR TEXT_OFFSET N_SAMPLES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/benchmark/population.h"
#include "tests/simulator/lbr.h"

#define N_FUNCTIONS    300 /* of make-programs */
#define FUNCTION_BYTES 0x400
#define N_SITES        4
#define SITE_BYTES     48
#define ROWS           32
#define MAX_DEPTH      80

struct call {
	unsigned int function, site; /* that it is made by */
};

struct process {
	struct lbr lbr;
	struct call calls[MAX_DEPTH];
	unsigned int depth, function;
};

struct generator {
	struct population population;
	struct process processes[N_PROCESSES];
};

static unsigned int below(struct generator *g, unsigned int n)
{
	return population_below(&g->population, n);
}

static uint64_t address(const struct generator *g, unsigned int process, unsigned int function)
{
	return g->population.base[process] + g->population.text_offset +
	       (uint64_t)function * FUNCTION_BYTES;
}

static unsigned int callee(unsigned int function, unsigned int site)
{
	unsigned int step = (function * 7 + site * 13) % 11;

	if (site == 0 && function % 5 == 0)
		return function - function % 10; /* back, or to itself */
	return (function + 1 + step) % N_FUNCTIONS;
}

static void call(struct generator *g, unsigned int process)
{
	struct process *p = &g->processes[process];
	unsigned int site = below(g, 1024) > 0 ? 1 : below(g, N_SITES);
	struct lbr_record record = {
		.from = address(g, process, p->function) + (site + 1) * SITE_BYTES,
	};

	if (p->depth == MAX_DEPTH)
		return;
	p->calls[p->depth++] = (struct call){ p->function, site };
	p->function = callee(p->function, site);
	record.to = address(g, process, p->function);
	lbr_push(&p->lbr, &record);
}

static void return_from(struct process *p)
{
	if (p->depth == 0)
		return;
	p->function = p->calls[--p->depth].function;
	lbr_pop(&p->lbr);
}

static void run(struct generator *g, unsigned int process)
{
	struct process *p = &g->processes[process];
	unsigned int dice = below(g, 32), down = below(g, 6), up = below(g, 6);

	if (dice == 0) {
		down = p->depth;
		up = 10 + below(g, 50);
	} else if (dice < 6) {
		down = below(g, 16);
		up = below(g, 18);
	}
	while (down-- > 0)
		return_from(p);
	while (up-- > 0)
		call(g, process);
}

static void add_sample_of(void *userdata, unsigned int cpu, uint64_t number)
{
	struct generator *g = userdata;
	/* one CPU's: those of a process are then in the order of their time, as the file is read */
	unsigned int process = below(g, N_PROCESSES / N_CPUS) * N_CPUS + cpu;
	struct process *p = &g->processes[process];
	struct perf_branch_entry entries[ROWS];
	struct lbr_record records[LBR_RECORDS_MAX];
	uint64_t chain[] = { PERF_CONTEXT_USER, 0 };
	struct perfdata_sample s = { .misc = PERF_RECORD_MISC_USER, .period = PERIOD };

	run(g, process);
	s.id = population_id(process, cpu, number);
	s.ip = chain[1] = address(g, process, p->function) + 8 * below(g, 3);
	s.callchain = chain;
	s.n_callchain = 2;
	s.n_rows = lbr_read(&p->lbr, records);
	s.hw_idx = p->lbr.tos;
	s.rows = entries;
	memset(entries, 0, sizeof(entries));
	for (size_t i = 0; i < s.n_rows; i++) {
		entries[i].from = records[i].from;
		entries[i].to = records[i].to;
	}
	perfdata_add_sample(g->population.file, &s);
}

int main(int argc, char **argv)
{
	static struct generator g;
	int r;

	if (argc != 5) {
		fprintf(stderr, "usage: generate-stacks FILE DIR TEXT_OFFSET N_SAMPLES\n");
		return 2;
	}
	for (unsigned int i = 0; i < N_PROCESSES; i++)
		lbr_init(&g.processes[i].lbr, ROWS, true);
	r = population_open(&g.population, argv[1],
			    PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
				    PERF_SAMPLE_BRANCH_HW_INDEX,
			    PERF_SAMPLE_CALLCHAIN, argv[3]);
	if (r >= 0)
		r = population_add(&g.population, argv[2], (uint64_t)N_FUNCTIONS * FUNCTION_BYTES);
	if (r >= 0)
		population_sample(&g.population, strtoull(argv[4], NULL, 0), add_sample_of, &g);
	return population_close(&g.population, r);
}
