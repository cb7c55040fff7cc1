/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options: what the command line asks for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *output;
	const char *truth; /* prefix of the truth's files; NULL for the name of the output */
	char **argv;       /* of the simulated program */
	char **own_argv;   /* of the simulator, for the header */
	int own_argc;
	uint64_t period;
	uint64_t delay; /* events of the first task before its first period */
	uint64_t seed;
	uint64_t quantum;     /* instructions */
	uint64_t max_samples; /* 0: no limit */
	uint64_t ns;          /* synthetic nanoseconds of an instruction */
	uint64_t n_stack;     /* bytes of stack in a sample; 0: no registers either */
	const char *named;    /* the name of the tasks that are sampled; NULL: all */
	unsigned n_rows;
	unsigned n_cpus;
	bool is_stack;
	bool has_mode;       /* it was asked for */
	bool no_rows;        /* samples have no branch records */
	bool count_branches; /* the period counts taken branches, not instructions */
	bool no_hw_idx;
	bool no_hw_idx_field;
	bool no_flags;
	bool no_caps;
	bool wipe;
	bool wipe_exec;
	bool callchain;
	bool build_id;
	bool pipe;
	bool step;
	bool aslr;
};
