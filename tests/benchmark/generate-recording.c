/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the big recording that the speed of reading is measured with: samples of 32 branch rows from
 * 200 processes of 40 programs on 8 CPUs, drained in rounds as perf record does it.
 *
 * The programs are the files DIR/program-0 to -39, made by make-programs; their text holds N_PATHS
 * functions of PATH_BYTES each. A function is a loop of blocks with one call site; a sample is taken
 * somewhere in one, the hot ones (1/rank^2) more often, and its rows are the way that led there:
 * round the loop, now and then past a block or two, now and then into the function called and not back.
 * All of it is pseudo-random with a fixed seed, so each run makes the same file.
 *
 *     generate-recording FILE DIR TEXT_OFFSET N_SAMPLES
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "tests/support/perfdata.h"

#define N_CPUS        8
#define N_PROGRAMS    40
#define N_PROCESSES   200
#define N_PATHS       64
#define PATH_BYTES    0x400
#define MAX_STEPS     24
#define ROWS          32
#define ROUND_SAMPLES 250 /* of a CPU */
#define SAMPLE_NS     1000000

/* A loop: blocks of code, each ending in a branch to the next; some have a second way out. */
struct path {
	unsigned int n_steps;
	unsigned int callee, call_site;            /* a path, and the step that may call it */
	uint16_t start[MAX_STEPS], end[MAX_STEPS]; /* offsets in the function */
};

struct generator {
	struct perfdata *file;
	struct path paths[N_PATHS];
	double zipf[N_PATHS]; /* cumulative */
	uint64_t base[N_PROCESSES];
	uint64_t text_offset;
	uint64_t random;
};

static uint64_t next_random(struct generator *g)
{
	uint64_t z = (g->random += 0x9e3779b97f4a7c15ull); /* splitmix64, Steele et al. 2014 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static unsigned int below(struct generator *g, unsigned int n)
{
	return (unsigned int)(next_random(g) % n);
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
	double x = (double)(next_random(g) >> 11) / (double)(1ull << 53);
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

/* Where the branch at @p goes: on in its loop, sometimes past a block, sometimes into another function. */
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

	return g->base[process] + g->text_offset + (uint64_t)p.path * PATH_BYTES +
	       (end ? path->end[p.step] : path->start[p.step]);
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

static int add_process(struct generator *g, unsigned int process, const char *dir)
{
	unsigned int program = process % N_PROGRAMS;
	struct perfdata_id id = { .pid = 1000 + process, .tid = 1000 + process, .id = 1 };
	struct perfdata_mmap map = { .pid = id.pid,
				     .tid = id.pid,
				     .maj = 8,
				     .min = 1,
				     .prot = 5,
				     .flags = 2,
				     .misc = PERF_RECORD_MISC_USER };
	char path[4096], comm[16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/program-%u", dir, program);
	snprintf(comm, sizeof(comm), "program-%u", program);
	if (stat(path, &st) < 0)
		return -errno;
	g->base[process] = 0x550000000000ull + (uint64_t)process * 0x1000000;
	map.ino = st.st_ino;
	map.start = g->base[process] + g->text_offset;
	map.pgoff = g->text_offset;
	map.length = (uint64_t)N_PATHS * PATH_BYTES;
	map.filename = path;
	perfdata_add_comm(g->file, &id, id.pid, id.pid, comm, true);
	perfdata_add_mmap2(g->file, &id, &map);
	return 0;
}

static void add_sample(struct generator *g, unsigned int cpu, uint64_t number)
{
	struct perf_branch_entry rows[ROWS];
	unsigned int process = below(g, N_PROCESSES), n = ROWS;
	struct perfdata_sample s = { .misc = PERF_RECORD_MISC_USER, .period = 1000003 };

	if (below(g, 16) == 0) /* lately switched in: 31 rows a sample in the mean */
		n = below(g, ROWS);
	s.id = (struct perfdata_id){ .pid = 1000 + process,
				     .tid = 1000 + process,
				     .time = 1000000000 + number * SAMPLE_NS + cpu * 1000,
				     .id = 1,
				     .cpu = cpu };
	s.ip = make_rows(g, process, rows, n);
	s.rows = rows;
	s.n_rows = n;
	perfdata_add_sample(g->file, &s);
}

static int generate(struct generator *g, const char *dir, uint64_t n_samples)
{
	uint64_t n_of_cpu = n_samples / N_CPUS;
	int r;

	make_paths(g);
	for (unsigned int i = 0; i < N_PROCESSES; i++) {
		r = add_process(g, i, dir);
		if (r < 0)
			return r;
	}
	for (uint64_t done = 0; done < n_of_cpu; done += ROUND_SAMPLES) {
		for (unsigned int cpu = 0; cpu < N_CPUS; cpu++)
			for (uint64_t i = done; i < done + ROUND_SAMPLES && i < n_of_cpu; i++)
				add_sample(g, cpu, i);
		perfdata_add_finished_round(g->file);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const caps[][2] = { { "branches", "32" } };
	static struct generator g = { .random = 1 };
	const uint64_t ids[] = { 1 };
	struct perfdata_event event = {
		.attr = { .type = PERF_TYPE_HARDWARE,
			  .config = PERF_COUNT_HW_CPU_CYCLES,
			  .sample_period = 1000003,
			  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
					 PERF_SAMPLE_BRANCH_STACK,
			  .branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
			  .sample_id_all = 1,
			  .mmap = 1,
			  .mmap2 = 1,
			  .comm = 1,
			  .comm_exec = 1 },
		.name = "cycles",
		.ids = ids,
		.n_ids = 1,
	};
	int r;

	if (argc != 5) {
		fprintf(stderr, "usage: generate-recording FILE DIR TEXT_OFFSET N_SAMPLES\n");
		return 2;
	}
	g.text_offset = strtoull(argv[3], NULL, 0);
	r = perfdata_new(&g.file, argv[1], 0, &event, 1);
	if (r < 0) {
		fprintf(stderr, "generate-recording: %s: %s\n", argv[1], strerror(-r));
		return 1;
	}
	perfdata_set_string(g.file, PERFDATA_HOSTNAME, "generated");
	perfdata_set_nrcpus(g.file, N_CPUS, N_CPUS);
	perfdata_set_cpu_pmu_caps(g.file, caps, 1);
	r = generate(&g, argv[2], strtoull(argv[4], NULL, 0));
	if (r >= 0)
		r = perfdata_finish(g.file);
	perfdata_free(g.file);
	if (r < 0)
		fprintf(stderr, "generate-recording: %s\n", strerror(-r));
	return r < 0;
}
