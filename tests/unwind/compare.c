/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stops a program at random times, walks its stack, and compares the frames with those that libdwfl
 * finds, which is what eu-stack prints. x86-64.
 *
 *	compare [--samples N] PROGRAM [ARGUMENT...]
 *
 * Prints how many stacks are equal. Where they differ: libdwfl goes on by the frame pointer through
 * code with a table, too, and where it guesses it may go on wrong; so each difference is shown.
 */
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unwind/traced.h"

#define MAX_FRAMES 2048
#define MAX_SHOWN  10
#define MAX_WAIT   4000 /* us */
#define SKIPPED    77

struct comparison {
	struct traced traced;
	struct unwind_input input;
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_result result;
	uint64_t theirs[MAX_FRAMES];
	size_t n_theirs;
	Dwfl *dwfl;
	uint64_t mapped; /* a hash of the mappings that it knows */
	uint64_t n_stacks, n_equal, n_complete, n_longer, n_ends[UNWIND_END_N];
	size_t n_shown;
};

static pid_t next_thread(Dwfl *dwfl, void *userdata, void **thread)
{
	const struct comparison *c = userdata;

	if (*thread)
		return 0;
	*thread = userdata;
	return c->traced.pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *userdata)
{
	const struct comparison *c = userdata;

	return traced_read(&c->traced, address, ret, sizeof(*ret)) == sizeof(*ret);
}

static bool set_registers(Dwfl_Thread *thread, void *userdata)
{
	const struct unwind_registers *r = &((struct comparison *)userdata)->input.registers;
	Dwarf_Word words[17];

	memcpy(words, r->values, 16 * sizeof(*words));
	words[16] = r->ip;
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static int on_frame(Dwfl_Frame *frame, void *userdata)
{
	struct comparison *c = userdata;
	Dwarf_Addr pc;

	if (c->n_theirs == MAX_FRAMES || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	c->theirs[c->n_theirs++] = pc;
	return DWARF_CB_OK;
}

static uint64_t hash_mappings(const struct traced *traced)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < traced->n_mappings; i++)
		if (traced->mappings[i].executable)
			hash = (hash ^ traced->mappings[i].start ^ traced->mappings[i].end << 1) *
			       0x9e3779b97f4a7c15UL;
	return hash;
}

static void open_dwfl(struct comparison *c)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread,
		.memory_read = read_memory,
		.set_initial_registers = set_registers,
	};

	if (c->dwfl)
		dwfl_end(c->dwfl);
	c->dwfl = dwfl_begin(&callbacks);
	dwfl_linux_proc_report(c->dwfl, c->traced.pid);
	dwfl_report_end(c->dwfl, NULL, NULL);
	if (!dwfl_attach_state(c->dwfl, NULL, c->traced.pid, &threads, c))
		fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
	c->mapped = hash_mappings(&c->traced);
}

static void show(struct comparison *c, size_t n_equal)
{
	if (c->n_shown++ >= MAX_SHOWN)
		return;
	printf("%zu frames, libdwfl %zu, the first %zu equal; end %d\n", c->result.n_frames,
	       c->n_theirs, n_equal, c->result.end);
	for (size_t i = n_equal > 2 ? n_equal - 2 : 0; i < n_equal + 4; i++)
		printf("    %-40s %s\n",
		       i < c->result.n_frames ? traced_name(&c->traced, c->frames[i].address) : "-",
		       i < c->n_theirs ? traced_name(&c->traced, c->theirs[i]) : "-");
}

static void compare(struct comparison *c)
{
	size_t n = 0;

	traced_read_mappings(&c->traced);
	traced_walk(&c->traced, TRACED_STACK_MAX, &c->input, c->frames, MAX_FRAMES, &c->result);
	if (!c->dwfl || c->mapped != hash_mappings(&c->traced))
		open_dwfl(c);
	c->n_theirs = 0;
	dwfl_getthread_frames(c->dwfl, c->traced.pid, on_frame, c);
	while (n < c->result.n_frames && n < c->n_theirs && c->frames[n].address == c->theirs[n])
		n++;
	c->n_stacks++;
	c->n_ends[c->result.end]++;
	c->n_complete += c->result.end == UNWIND_COMPLETE;
	if (n == c->result.n_frames && n == c->n_theirs) {
		c->n_equal++;
	} else if (n == c->n_theirs && c->result.end == UNWIND_COMPLETE) {
		c->n_longer++;
	} else {
		show(c, n);
	}
}

/* Lets it run for a while; false where it has ended. */
static bool run_on(struct comparison *c, int signal)
{
	const struct timespec pause = { 0, rand() % MAX_WAIT * 1000L };
	int status;

	if (ptrace(PTRACE_CONT, c->traced.pid, 0, signal) < 0)
		return false;
	nanosleep(&pause, NULL);
	kill(c->traced.pid, SIGSTOP);
	return waitpid(c->traced.pid, &status, 0) > 0 && WIFSTOPPED(status);
}

int main(int argc, char **argv)
{
	static struct comparison c;
	uint64_t n_samples = 100;
	pid_t pid;

#ifndef __x86_64__
	return SKIPPED;
#endif
	if (argc > 3 && !strcmp(argv[1], "--samples")) {
		n_samples = strtoull(argv[2], NULL, 10);
		argv += 2;
	}
	pid = traced_start(argv + 1);
	if (pid < 0) {
		fprintf(stderr, "%s cannot be traced\n", argv[1]);
		return SKIPPED;
	}
	traced_init(&c.traced, pid);
	while (c.n_stacks < n_samples && run_on(&c, 0))
		compare(&c);
	if (c.dwfl)
		dwfl_end(c.dwfl);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%" PRIu64 " stacks: %" PRIu64 " complete, %" PRIu64
	       " equal to those of libdwfl, %" PRIu64 " complete where those are not; ends %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       c.n_stacks, c.n_complete, c.n_equal, c.n_longer, c.n_ends[0], c.n_ends[1],
	       c.n_ends[2], c.n_ends[3], c.n_ends[4], c.n_ends[5]);
	traced_done(&c.traced);
	return c.n_stacks == 0 || c.n_equal + c.n_longer < c.n_stacks;
}
