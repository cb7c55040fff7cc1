/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the generators of big recordings share: random numbers that are the same in each run, and
 * 200 processes of 40 programs on 8 CPUs. The programs are the files DIR/program-0 to -39, made by
 * make-programs, whose text begins at an offset that it prints.
 */
#pragma once

#include <stdint.h>

#include "tests/perfdata/perfdata.h"

#define N_CPUS        8
#define N_PROGRAMS    40
#define N_PROCESSES   200
#define ROUND_SAMPLES 250 /* of a CPU; then perf record drains the next one */
#define SAMPLE_NS     1000000
#define PERIOD        1000003 /* cycles */

struct population {
	struct perfdata *file;
	uint64_t base[N_PROCESSES]; /* of the file each executes */
	uint64_t text_offset;
	uint64_t random;
};

uint64_t population_random(struct population *p);
unsigned int population_below(struct population *p, unsigned int n);

/* Begins the file at @path, of cycles with branch rows of that type; @sample_type adds to what each
 * sample has. 0 or -errno. */
int population_open(struct population *p, const char *path, uint64_t branch_sample_type,
		    uint64_t sample_type, const char *text_offset);
/* Adds the processes, which map @n_bytes of the text of the programs in @dir. 0 or -errno. */
int population_add(struct population *p, const char *dir, uint64_t n_bytes);

/* Calls @add for each of @n_samples, in the order that perf record drains CPUs in. */
typedef void (*add_sample)(void *userdata, unsigned int cpu, uint64_t number);
void population_sample(struct population *p, uint64_t n_samples, add_sample add, void *userdata);

struct perfdata_id population_id(unsigned int process, unsigned int cpu, uint64_t number);

/* Finishes the file; says what went wrong, @r or in this. The program's exit status. */
int population_close(struct population *p, int r);
