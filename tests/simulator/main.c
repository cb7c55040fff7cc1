/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branch-simulator: runs a program under a simulated last branch record and writes the perf.data
 * file that a processor with such a record would have made, and the truth beside it. README.md says
 * more.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulator/lbr.h"
#include "tests/simulator/options.h"
#include "tests/simulator/simulation.h"
#include "tests/simulator/user-state.h"

#define EXIT_SKIP 77

enum key {
	KEY_ROWS = 256,
	KEY_MODE,
	KEY_NO_HW_IDX,
	KEY_NO_HW_IDX_FIELD,
	KEY_NO_FLAGS,
	KEY_NO_CAPS,
	KEY_PERIOD,
	KEY_DELAY,
	KEY_EVENT,
	KEY_SEED,
	KEY_WIPE,
	KEY_WIPE_EXEC,
	KEY_QUANTUM,
	KEY_MAX_SAMPLES,
	KEY_NS,
	KEY_CPUS,
	KEY_TRUTH,
	KEY_CALLCHAIN,
	KEY_STACK,
	KEY_NAMED,
	KEY_BUILD_ID,
	KEY_PIPE,
	KEY_STEP,
	KEY_ASLR,
};

static const struct argp_option argp_options[] = {
	{ .name = "output", .key = 'o', .arg = "FILE", .doc = "the recording; default perf.data" },
	{ .name = "truth",
	  .key = KEY_TRUTH,
	  .arg = "PREFIX",
	  .doc = "of the truth's files; default FILE" },
	{ .name = "mode",
	  .key = KEY_MODE,
	  .arg = "branch|stack",
	  .doc = "any taken branch, or call stacks" },
	{ .name = "rows",
	  .key = KEY_ROWS,
	  .arg = "N",
	  .doc = "depth of the LBR, 8 to 64; default 32" },
	{ .name = "event",
	  .key = KEY_EVENT,
	  .arg = "instructions|branches",
	  .doc = "what the period counts" },
	{ .name = "period",
	  .key = KEY_PERIOD,
	  .arg = "N",
	  .doc = "a sample every N events, give or take N/8; default 1009" },
	{ .name = "delay",
	  .key = KEY_DELAY,
	  .arg = "N",
	  .doc = "the first task has no sample in its first N events" },
	{ .name = "seed", .key = KEY_SEED, .arg = "N", .doc = "of periods and cycles; default 1" },
	{ .name = "no-hw-idx", .key = KEY_NO_HW_IDX, .doc = "write the hardware index as -1" },
	{ .name = "no-hw-idx-field",
	  .key = KEY_NO_HW_IDX_FIELD,
	  .doc = "leave the hardware index out" },
	{ .name = "no-flags",
	  .key = KEY_NO_FLAGS,
	  .doc = "no mispredict flags and cycles, as perf's call stacks" },
	{ .name = "no-caps", .key = KEY_NO_CAPS, .doc = "leave the LBR's depth out of the header" },
	{ .name = "wipe", .key = KEY_WIPE, .doc = "the LBR is emptied whenever a quantum begins" },
	{ .name = "wipe-exec",
	  .key = KEY_WIPE_EXEC,
	  .doc = "the LBR is emptied by exec, which no hardware does" },
	{ .name = "threads-quantum",
	  .key = KEY_QUANTUM,
	  .arg = "N",
	  .doc = "instructions; default 5003" },
	{ .name = "max-samples",
	  .key = KEY_MAX_SAMPLES,
	  .arg = "N",
	  .doc = "kill the program after N samples" },
	{ .name = "ns",
	  .key = KEY_NS,
	  .arg = "N",
	  .doc = "nanoseconds of an instruction; default 1" },
	{ .name = "cpus",
	  .key = KEY_CPUS,
	  .arg = "N",
	  .doc = "CPUs that tasks are dealt to; default 1" },
	{ .name = "callchain",
	  .key = KEY_CALLCHAIN,
	  .doc = "samples carry the true call chain as well" },
	{ .name = "stack",
	  .key = KEY_STACK,
	  .arg = "BYTES",
	  .doc = "samples carry registers and that much of the stack, as `perf record "
		 "--call-graph dwarf,BYTES` has them, and branch records only with --mode" },
	{ .name = "named",
	  .key = KEY_NAMED,
	  .arg = "NAME",
	  .doc = "sample a task only while that is its name" },
	{ .name = "build-id", .key = KEY_BUILD_ID, .doc = "MMAP2 records in their build-id form" },
	{ .name = "pipe",
	  .key = KEY_PIPE,
	  .doc = "the form that `perf record -o -` writes; FILE may be -" },
	{ .name = "step",
	  .key = KEY_STEP,
	  .doc = "step every instruction: slow, and checks the fast way" },
	{ .name = "aslr", .key = KEY_ASLR, .doc = "leave address space randomisation on" },
	{ 0 },
};

static uint64_t parse_number(const char *arg, uint64_t min, uint64_t max, struct argp_state *state)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || n < min || n > max)
		argp_error(state, "%s is not a number from %lu to %lu", arg, min, max);
	return n;
}

/* True for the second word. */
static bool parse_word(const char *arg, const char *first, const char *second,
		       struct argp_state *state)
{
	if (strcmp(arg, first) && strcmp(arg, second))
		argp_error(state, "%s is neither %s nor %s", arg, first, second);
	return strcmp(arg, second) == 0;
}

static bool *option_flag(struct options *o, int key)
{
	switch (key) {
	case KEY_NO_HW_IDX:
		return &o->no_hw_idx;
	case KEY_NO_HW_IDX_FIELD:
		return &o->no_hw_idx_field;
	case KEY_NO_FLAGS:
		return &o->no_flags;
	case KEY_NO_CAPS:
		return &o->no_caps;
	case KEY_WIPE:
		return &o->wipe;
	case KEY_WIPE_EXEC:
		return &o->wipe_exec;
	case KEY_CALLCHAIN:
		return &o->callchain;
	case KEY_BUILD_ID:
		return &o->build_id;
	case KEY_PIPE:
		return &o->pipe;
	case KEY_STEP:
		return &o->step;
	case KEY_ASLR:
		return &o->aslr;
	default:
		return NULL;
	}
}

static error_t parse_arguments(struct options *o, struct argp_state *state)
{
	o->argv = state->argv + state->next;
	o->no_rows = o->n_stack > 0 && !o->has_mode;
	if (state->next == state->argc)
		argp_error(state, "no program");
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	bool *flag = option_flag(o, key);

	if (flag) {
		*flag = true;
		return 0;
	}
	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case KEY_TRUTH:
		o->truth = arg;
		return 0;
	case KEY_STACK:
		o->n_stack = parse_number(arg, 8, USER_STATE_STACK_MAX, state) & ~7ULL;
		return 0;
	case KEY_NAMED:
		o->named = arg;
		return 0;
	case KEY_MODE:
		o->has_mode = true;
		o->is_stack = parse_word(arg, "branch", "stack", state);
		return 0;
	case KEY_EVENT:
		o->count_branches = parse_word(arg, "instructions", "branches", state);
		return 0;
	case KEY_ROWS:
		o->n_rows = parse_number(arg, 8, LBR_RECORDS_MAX, state);
		return 0;
	case KEY_PERIOD:
		o->period = parse_number(arg, 1, UINT32_MAX, state);
		return 0;
	case KEY_DELAY:
		o->delay = parse_number(arg, 0, UINT32_MAX, state);
		return 0;
	case KEY_SEED:
		o->seed = parse_number(arg, 0, UINT64_MAX, state);
		return 0;
	case KEY_QUANTUM:
		o->quantum = parse_number(arg, 1, UINT32_MAX, state);
		return 0;
	case KEY_MAX_SAMPLES:
		o->max_samples = parse_number(arg, 1, UINT64_MAX, state);
		return 0;
	case KEY_NS:
		o->ns = parse_number(arg, 1, 1000000000, state);
		return 0;
	case KEY_CPUS:
		o->n_cpus = parse_number(arg, 1, 1024, state);
		return 0;
	case ARGP_KEY_ARGS:
		return parse_arguments(o, state);
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "PROGRAM [ARGUMENT...]",
		.doc = "Runs PROGRAM under a simulated last branch record; writes a perf.data file "
		       "and the truth beside it."
		       "\vExit status: 0, 1 on errors, 77 if this machine does not allow tracing "
		       "of own children.",
	};
	struct options options = {
		.output = "perf.data",
		.period = 1009,
		.seed = 1,
		.quantum = 5003,
		.ns = 1,
		.n_rows = 32,
		.n_cpus = 1,
		.own_argc = argc,
		.own_argv = argv,
	};
	int r;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	r = simulation_run(&options);
	if (r >= 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "branch-simulator: %s\n", strerror(-r));
	return r == -EPERM || r == -ENOSYS ? EXIT_SKIP : EXIT_FAILURE;
}
