/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Are samples attributed right, where that is hard? Programs that live 5 ms, programs that run exec
 * on themselves and on others, libraries loaded where another was before. Each computes in a
 * function whose name says which program or library it is of, so that each sample can be checked by
 * itself.
 *
 *   test-attribution REMAP ONE TWO SHORT-A SHORT-B SHORT-C
 *
 * Exits with 77 where the machine cannot be sampled.
 */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/symbol/symbolizer.h"
#include "daemon/collector/collector.h"
#include "daemon/sampler/sampler.h"

#define ROUNDS      40   /* enough samples, whatever else the machine does */
#define ENOUGH      500  /* samples */
#define RIGHT_SHARE 0.99 /* at least */
#define SKIPPED     77

extern char **environ;

struct verdict {
	const char *what;
	uint64_t right, wrong;
	uint64_t by_name['c' + 1]; /* right ones of spin_a, spin_b, spin_c */
};

static pid_t start(char *const *argv)
{
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0) {
		perror(argv[0]);
		exit(EXIT_FAILURE);
	}
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "a program failed\n");
		exit(EXIT_FAILURE);
	}
}

/* Each alone, one that becomes the others, one that becomes itself. */
static void run_programs(char **short_lived)
{
	char *const runs[][4] = {
		{ short_lived[0] },
		{ short_lived[1] },
		{ short_lived[2] },
		{ short_lived[0], short_lived[1], short_lived[2] },
		{ short_lived[0], short_lived[0] },
		{ short_lived[1], short_lived[1] },
		{ short_lived[2], short_lived[2] },
	};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		finish(start(runs[i]));
}

static void run_all(char **argv)
{
	char seconds[] = "8";
	char *const remap_args[] = { argv[1], seconds, argv[2], argv[3], NULL };
	pid_t remap = start(remap_args);

	for (int i = 0; i < ROUNDS; i++)
		run_programs(argv + 4);
	finish(remap);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *object_name(const struct profile *p, struct location at)
{
	return at.object == PROFILE_NONE ? "" : base_name(p->objects[at.object].path);
}

static const char *function_name(const struct profile *p, struct location at)
{
	const struct profile_function *f = profile_find_function(p, at);

	return f ? f->name : "";
}

static bool is_of_system(const struct profile *p, struct location at)
{
	const char *name = object_name(p, at);

	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "libc.so", 7) == 0 ||
	       strcmp(name, "[vdso]") == 0;
}

static bool is_of_kernel(const struct profile *p, struct location at)
{
	return at.object == PROFILE_NONE ? at.offset >> 63 :
					   p->objects[at.object].kind == OBJECT_KERNEL ||
						   p->objects[at.object].kind == OBJECT_MODULE;
}

static void complain(const struct profile *p, const struct profile_stack *s, const char *expected)
{
	const struct profile_process *process = &p->processes[s->process];

	printf("    wrong: %" PRIu64 " of pid %d %s at %s+0x%" PRIx64 " %s, expected %s\n",
	       s->samples, process->pid, process->comm, object_name(p, s->frame), s->frame.offset,
	       function_name(p, s->frame), expected);
}

/* In "live-short-b" nothing runs but spin_b() and what the system adds. */
static void check_program(const struct profile *p, const struct profile_stack *s, struct verdict *j)
{
	const struct profile_process *process = &p->processes[s->process];
	const char *function = function_name(p, s->frame);
	char expected[] = "spin_?";

	if (is_of_system(p, s->frame))
		return;
	expected[5] = process->comm[strlen("live-short-")];
	if (strcmp(object_name(p, s->frame), process->comm) == 0 &&
	    strcmp(base_name(process->executable ? process->executable : ""), process->comm) == 0 &&
	    (strcmp(function, expected) == 0 || strncmp(function, "spin_", 5) != 0)) {
		j->right += s->samples;
		j->by_name[(unsigned char)expected[5]] += s->samples;
		return;
	}
	j->wrong += s->samples;
	complain(p, s, expected);
}

/* Under run_two() nothing runs but what is in live-two.so. */
static void check_library(const struct profile *p, const struct profile_stack *s, struct verdict *j)
{
	const char *expected = NULL;

	for (uint32_t i = s->parent; i != PROFILE_NONE && !expected; i = p->stacks[i].parent) {
		const char *caller = function_name(p, p->stacks[i].frame);

		if (strcmp(caller, "run_one") == 0)
			expected = "live-one.so";
		else if (strcmp(caller, "run_two") == 0)
			expected = "live-two.so";
	}
	if (!expected || is_of_system(p, s->frame))
		return;
	if (strcmp(object_name(p, s->frame), expected) == 0) {
		j->right += s->samples;
		return;
	}
	j->wrong += s->samples;
	complain(p, s, expected);
}

static int report(const struct verdict *j)
{
	double share = (double)j->right / (double)(j->right + j->wrong);

	printf("%s: %" PRIu64 " samples right, %" PRIu64 " wrong: %.2f %%\n", j->what, j->right,
	       j->wrong, 100 * share);
	return j->right + j->wrong >= ENOUGH && share >= RIGHT_SHARE ? 0 : -1;
}

/* The three programs ran as often, and as long: a third each, and four standard deviations of few
 * samples. */
static int compare_programs(const struct verdict *j)
{
	const uint64_t *n = j->by_name;

	printf("spin_a %" PRIu64 ", spin_b %" PRIu64 ", spin_c %" PRIu64 "\n", n['a'], n['b'],
	       n['c']);
	for (int c = 'a'; c <= 'c'; c++)
		if (4 * n[c] < j->right || 12 * n[c] > 5 * j->right)
			return -1;
	return 0;
}

static int check_samples(const struct profile *p)
{
	struct verdict programs = { .what = "programs of 5 ms" };
	struct verdict libraries = { .what = "libraries one over the other" };

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		const char *comm = p->processes[s->process].comm;

		if (s->samples == 0 || is_of_kernel(p, s->frame))
			continue;
		if (strncmp(comm, "live-short-", 11) == 0)
			check_program(p, s, &programs);
		if (strcmp(comm, "live-remap") == 0)
			check_library(p, s, &libraries);
	}
	return report(&programs) | compare_programs(&programs) | report(&libraries);
}

/* All that was collected, with names. */
static int take_all(struct collector *collector, struct profile **ret, struct fault *fault)
{
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	struct symbolizer_settings settings = { 0 };
	struct window_profile collected;
	int r;

	r = collector_take(collector, &collected, fault); /* one: its windows are long */
	if (r <= 0)
		return r < 0 ? r : -ENODATA;
	*ret = collected.profile;
	r = symbolizer_new(&symbolizer, &settings);
	if (r >= 0)
		r = symbolizer_add_functions(symbolizer, *ret);
	return r < 0 ? r : profile_finalize(*ret);
}

static int run_test(struct sampler *sampler, char **argv, struct fault *fault)
{
	const struct collector_settings settings = { .window_us = 3600000000, .max_queued = 1 };
	_cleanup_(collector_freep) struct collector *collector = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	int r;

	r = collector_start(&collector, sampler, &settings, fault);
	if (r < 0)
		return r;
	run_all(argv);
	collector_stop(collector);
	r = take_all(collector, &profile, fault);
	return r < 0 ? r : check_samples(profile);
}

int main(int argc, char **argv)
{
	const struct sampler_settings settings = { .frequency = 4999, .kernel = true };
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct fault fault = { .text = "" };
	struct sampler *sampler;
	int r;

	if (argc != 7)
		return EXIT_FAILURE;
	if (geteuid() != 0 || helpers_new(&helpers, NULL) < 0 ||
	    sampler_open(&sampler, &settings, helpers, &fault) < 0) {
		printf("skipped: %s\n",
		       fault.text[0] ? fault.text : "sampling the machine needs root");
		return SKIPPED;
	}
	r = run_test(sampler, argv, &fault);
	if (fault.text[0])
		printf("%s\n", fault.text);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
