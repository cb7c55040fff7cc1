/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/benchmark/population.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

uint64_t population_random(struct population *p)
{
	uint64_t z = (p->random += 0x9e3779b97f4a7c15ull); /* splitmix64, Steele et al. 2014 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

unsigned int population_below(struct population *p, unsigned int n)
{
	return (unsigned int)(population_random(p) % n);
}

int population_open(struct population *p, const char *path, uint64_t branch_sample_type,
		    uint64_t sample_type, const char *text_offset)
{
	static const char *const caps[][2] = { { "branches", "32" } };
	const uint64_t ids[] = { 1 };
	const struct perfdata_event event = {
		.attr = { .type = PERF_TYPE_HARDWARE,
			  .config = PERF_COUNT_HW_CPU_CYCLES,
			  .sample_period = PERIOD,
			  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
					 PERF_SAMPLE_BRANCH_STACK | sample_type,
			  .branch_sample_type = branch_sample_type,
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

	p->random = 1;
	p->text_offset = strtoull(text_offset, NULL, 0);
	r = perfdata_new(&p->file, path, 0, &event, 1);
	if (r < 0)
		return r;
	perfdata_set_string(p->file, PERFDATA_HOSTNAME, "generated");
	perfdata_set_nrcpus(p->file, N_CPUS, N_CPUS);
	perfdata_set_cpu_pmu_caps(p->file, caps, 1);
	return 0;
}

static int add_process(struct population *p, unsigned int process, const char *dir,
		       uint64_t n_bytes)
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
	p->base[process] = 0x550000000000ull + (uint64_t)process * 0x1000000;
	map.ino = st.st_ino;
	map.start = p->base[process] + p->text_offset;
	map.pgoff = p->text_offset;
	map.length = n_bytes;
	map.filename = path;
	perfdata_add_comm(p->file, &id, id.pid, id.pid, comm, true);
	perfdata_add_mmap2(p->file, &id, &map);
	return 0;
}

int population_add(struct population *p, const char *dir, uint64_t n_bytes)
{
	int r = 0;

	for (unsigned int i = 0; r >= 0 && i < N_PROCESSES; i++)
		r = add_process(p, i, dir, n_bytes);
	return r;
}

void population_sample(struct population *p, uint64_t n_samples, add_sample add, void *userdata)
{
	uint64_t n_of_cpu = n_samples / N_CPUS;

	for (uint64_t done = 0; done < n_of_cpu; done += ROUND_SAMPLES) {
		for (unsigned int cpu = 0; cpu < N_CPUS; cpu++)
			for (uint64_t i = done; i < done + ROUND_SAMPLES && i < n_of_cpu; i++)
				add(userdata, cpu, i);
		perfdata_add_finished_round(p->file);
	}
}

struct perfdata_id population_id(unsigned int process, unsigned int cpu, uint64_t number)
{
	return (struct perfdata_id){ .pid = 1000 + process,
				     .tid = 1000 + process,
				     .time = 1000000000 + number * SAMPLE_NS + cpu * 1000,
				     .id = 1,
				     .cpu = cpu };
}

int population_close(struct population *p, int r)
{
	if (r >= 0)
		r = perfdata_finish(p->file);
	perfdata_free(p->file);
	if (r < 0)
		fprintf(stderr, "%s\n", strerror(-r));
	return r < 0;
}
