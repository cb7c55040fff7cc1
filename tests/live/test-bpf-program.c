/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's verifier accepts the BPF program with all settings. They are constants when it looks
 * at the program, and it does not see the code that they switch off. Needs root, and is skipped
 * without.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sampler/program.h"

/* No hardware has all of it, but a program that has is the one with most to see. */
static const struct lbr everything = { .name = "everything", .hw_idx = true, .wrong_path = true };
static const struct lbr plain = { .name = "plain" };

static const struct task_filter nobody, somebody = {
	.pids.n = BPF_MAX_WANTED,
	.uids = { .n = 1, .ids = { 1000 } },
	.units.n = 1,
};

static const struct {
	const char *name;
	struct program_settings settings;
} programs[] = {
	{ "by the clock",
	  { .by_clock = true, .kernel = true, .user = BPF_USER_FRAME_POINTERS, .only = &nobody } },
	{ "by cycles", { .kernel = true, .user = BPF_USER_FRAME_POINTERS, .only = &nobody } },
	{ "rows",
	  { .kernel = true,
	    .user = BPF_USER_FRAME_POINTERS,
	    .lbr = &plain,
	    .depth = 16,
	    .only = &nobody } },
	{ "rows of the user's",
	  { .user = BPF_USER_FRAME_POINTERS,
	    .lbr = &plain,
	    .depth = 32,
	    .leave_kernel = true,
	    .only = &nobody } },
	{ "stacks to be unwound", { .kernel = true, .user = BPF_USER_COPY, .only = &nobody } },
	{ "no stacks", { .only = &nobody } },
	{ "ticks", { .by_clock = true, .capture = 0.1, .only = &nobody } },
	{ "everything",
	  { .by_clock = true,
	    .kernel = true,
	    .user = BPF_USER_COPY,
	    .lbr = &everything,
	    .depth = 64,
	    .leave_kernel = true,
	    .capture = 0.5,
	    .only = &somebody } },
};

static bool loads(struct events_client *events, const char *name,
		  const struct program_settings *settings)
{
	_cleanup_(program_freep) struct program *program = NULL;
	struct fault fault;
	int r = program_load(&program, events, 1, settings, &fault);

	printf("%s: %s\n", name, r < 0 ? fault.text : "ok");
	return r >= 0 && program_fd(program, BPF_EVENT_ANY) >= 0 &&
	       program_fd(program, BPF_EVENT_CALLS) >= 0;
}

int main(void)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	_cleanup_(events_client_freep) struct events_client *events = NULL;
	bool ok = true;

	if (geteuid() != 0) {
		puts("skipped: loading BPF programs needs root");
		return 77;
	}
	if (helpers_new(&helpers, NULL) < 0 || events_client_new(&events, helpers) < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		ok &= loads(events, programs[i].name, &programs[i].settings);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
