/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a program instruction by instruction, walks its stack at each of them, and compares the
 * frames with a shadow stack: what the calls that were seen have pushed, and what signals
 * interrupted. x86-64.
 *
 *	steps [--every N] [--skip N] [--max N] PROGRAM [ARGUMENT...]
 *
 * Prints how many stacks are complete and right. Fails if one is wrong, or short where tables cover
 * the code. Tail calls, longjmp and exceptions take frames from the stack without a return: a frame
 * is gone when the stack pointer is above its return address.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/unwind/traced.h"

#define MAX_FRAMES 4096
#define MAX_SHOWN  20
#define SKIPPED    77

/* A frame that waits for a callee. */
struct waiting {
	uint64_t address; /* the return address, or what was interrupted */
	uint64_t slot;    /* where it is; the frame is gone when the stack pointer is above */
};

struct run {
	struct traced traced;
	struct waiting stack[MAX_FRAMES];
	size_t n;
	struct unwind_frame frames[MAX_FRAMES];
	uint64_t n_checked, n_right, n_no_table, n_by_fp, n_jumps, n_short[UNWIND_END_N], n_wrong;
	size_t n_shown;
};

static bool is_call(const uint8_t *code)
{
	if (code[0] == 0xf2 || code[0] == 0x3e || code[0] == 0x66)
		code++;
	if (code[0] == 0xf2 || code[0] == 0x3e)
		code++;
	if (code[0] >= 0x40 && code[0] <= 0x4f)
		code++;
	return code[0] == 0xe8 || (code[0] == 0xff && (code[1] >> 3 & 7) == 2);
}

/* The frames as they should be, compared with those found. The number that are right. */
static size_t count_right(const struct run *run, const struct unwind_result *result)
{
	size_t n = 1;

	while (n < result->n_frames && n <= run->n &&
	       run->frames[n].address == run->stack[run->n - n].address)
		n++;
	return n;
}

static void show(struct run *run, const struct unwind_result *result, size_t n_right)
{
	static const char *const ends[] = { "complete",  "no table",  "stack",
					    "no return", "bad frame", "depth" };

	if (run->n_shown++ >= MAX_SHOWN)
		return;
	printf("at %s: %s after %zu frames of %zu, %zu right\n",
	       traced_name(&run->traced, run->frames[0].address), ends[result->end],
	       result->n_frames, run->n + 1, n_right);
	for (size_t i = 0; i < 12 && (i < result->n_frames || i <= run->n); i++)
		printf("    %-32s %s\n",
		       i < result->n_frames ? traced_name(&run->traced, run->frames[i].address) :
					      "-",
		       i > run->n ? "-" :
		       i == 0     ? "=" :
				    traced_name(&run->traced, run->stack[run->n - i].address));
}

/* While longjmp jumps, the tables name its target the caller, before the stack pointer moves. */
static bool is_jump(const struct run *run)
{
	uint64_t ip = run->frames[0].address;
	const struct traced_mapping *m = traced_find(&run->traced, ip);
	const struct unwind_rule *rule = NULL;

	if (m && m->object)
		rule = unwind_table_find(&m->object->table, ip - m->start + m->offset);
	return rule && rule->cfa == UNWIND_CFA_JUMP;
}

static void check(struct run *run)
{
	struct unwind_result result;
	struct unwind_input input;
	size_t n_right;

	traced_walk(&run->traced, TRACED_STACK_MAX, &input, run->frames, MAX_FRAMES, &result);
	n_right = count_right(run, &result);
	run->n_checked++;
	if (result.n_by_fp) {
		run->n_by_fp++;
	} else if (is_jump(run)) {
		run->n_jumps++;
	} else if (n_right < result.n_frames) {
		run->n_wrong++;
		show(run, &result, n_right);
	} else if (n_right == run->n + 1) {
		run->n_right++;
	} else if (result.end == UNWIND_NO_TABLE) {
		run->n_no_table++;
	} else {
		run->n_short[result.end]++;
		show(run, &result, n_right);
	}
}

static uint64_t get_sp(const struct run *run, uint64_t *ret_ip)
{
	struct unwind_registers registers;

	traced_registers(&run->traced, &registers);
	*ret_ip = registers.ip;
	return registers.sp;
}

static void push(struct run *run, uint64_t address, uint64_t slot)
{
	if (run->n < MAX_FRAMES)
		run->stack[run->n++] = (struct waiting){ address, slot };
}

static void drop_above(struct run *run, uint64_t sp)
{
	while (run->n > 0 && run->stack[run->n - 1].slot < sp)
		run->n--;
}

/* One instruction, or the delivery of a signal. False where the program has ended. */
static bool step(struct run *run, int *signal)
{
	uint64_t ip, sp, next_ip, next_sp, pushed = 0;
	uint8_t code[16] = { 0 };
	int status;

	sp = get_sp(run, &ip);
	traced_read(&run->traced, ip, code, sizeof(code));
	if (ptrace(PTRACE_SINGLESTEP, run->traced.pid, 0, *signal) < 0 ||
	    waitpid(run->traced.pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	next_sp = get_sp(run, &next_ip);
	drop_above(run, next_sp);
	if (*signal && next_ip != ip && next_sp < sp - 128) {
		push(run, ip, next_sp + 8);
		traced_read(&run->traced, next_sp, &pushed, sizeof(pushed));
		push(run, pushed, next_sp);
	} else if (!*signal && is_call(code) && next_sp == sp - 8 && next_ip != ip) {
		traced_read(&run->traced, next_sp, &pushed, sizeof(pushed));
		push(run, pushed, next_sp);
	}
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static int report(const struct run *run)
{
	uint64_t n_short = 0;

	for (size_t i = 0; i < UNWIND_END_N; i++)
		n_short += run->n_short[i];
	printf("%" PRIu64 " stacks: %" PRIu64 " complete and right, %" PRIu64 " wrong, %" PRIu64
	       " short, %" PRIu64 " within a jump, %" PRIu64 " in code without a table, %" PRIu64
	       " by the frame pointer\n",
	       run->n_checked, run->n_right, run->n_wrong, n_short, run->n_jumps, run->n_no_table,
	       run->n_by_fp);
	return run->n_wrong || n_short || run->n_checked == 0;
}

int main(int argc, char **argv)
{
	uint64_t every = 1, skip = 0, max = UINT64_MAX;
	static struct run run;
	int signal = 0, r;
	pid_t pid;

#ifndef __x86_64__
	return SKIPPED;
#endif
	while (argc > 2 && argv[1][0] == '-') {
		uint64_t n = strtoull(argv[2], NULL, 10);

		every = !strcmp(argv[1], "--every") ? n : every;
		skip = !strcmp(argv[1], "--skip") ? n : skip;
		max = !strcmp(argv[1], "--max") ? n : max;
		argv += 2;
		argc -= 2;
	}
	pid = traced_start(argv + 1);
	if (pid < 0) {
		fprintf(stderr, "%s cannot be traced\n", argv[1]);
		return SKIPPED;
	}
	traced_init(&run.traced, pid);
	traced_read_mappings(&run.traced);
	for (uint64_t i = 0; i < max; i++) {
		if (i >= skip && i % every == 0 && !signal)
			check(&run);
		if (!step(&run, &signal))
			break;
	}
	r = report(&run);
	traced_done(&run.traced);
	return r;
}
