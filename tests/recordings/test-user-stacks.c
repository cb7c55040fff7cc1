/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registers and stacks of user code in a recording that perf makes here with `--call-graph
 * dwarf`: as `perf script -D` prints them. Exit status 77 where perf is missing or may not record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/record/recording.h"
#include "common/record/user-registers.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define EXIT_SKIP   77
#define STACK_BYTES 4096
#define WORK        "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"

/* What perf prints of a sample. */
struct printed {
	uint64_t time, ip, sp, fp, r15;
	uint32_t n_stack;
	bool has_registers;
};

struct printed_samples {
	struct printed *all;
	size_t n, cap;
};

static char folder[] = "/tmp/branchd-test-XXXXXX";

static struct printed *add_sample(struct printed_samples *p, uint64_t time)
{
	assert_int_equal(ARRAY_RESERVE(&p->all, &p->cap, p->n + 1), 0);
	p->all[p->n] = (struct printed){ .time = time };
	return &p->all[p->n++];
}

/* A line begins with the time, or with the CPU and the time, and then "0x". */
static bool read_time(const char *line, uint64_t *ret)
{
	uint64_t first, second;
	char after;

	if (sscanf(line, "%" SCNu64 " %" SCNu64 "%c", &first, &second, &after) != 3)
		return false;
	*ret = after == 'x' ? first : second;
	return true;
}

static void read_line(struct printed_samples *p, const char *line)
{
	struct printed *s = p->n > 0 ? &p->all[p->n - 1] : NULL;
	uint64_t value;

	if (strstr(line, ": PERF_RECORD_SAMPLE") && read_time(line, &value)) {
		add_sample(p, value);
		return;
	}
	if (!s)
		return;
	if (strncmp(line, "... user regs:", 14) == 0)
		s->has_registers = true;
	else if (sscanf(line, ".... SP %" SCNx64, &value) == 1)
		s->sp = value;
	else if (sscanf(line, ".... BP %" SCNx64, &value) == 1 ||
		 sscanf(line, ".... x29 %" SCNx64, &value) == 1)
		s->fp = value;
	else if (sscanf(line, ".... IP %" SCNx64, &value) == 1 ||
		 sscanf(line, ".... PC %" SCNx64, &value) == 1 ||
		 sscanf(line, ".... pc %" SCNx64, &value) == 1)
		s->ip = value;
	else if (sscanf(line, ".... R15 %" SCNx64, &value) == 1 ||
		 sscanf(line, ".... x15 %" SCNx64, &value) == 1)
		s->r15 = value;
	else if (sscanf(line, "... ustack: size %" SCNu64, &value) == 1)
		s->n_stack = (uint32_t)value;
}

static void read_printed(struct printed_samples *ret, const char *path)
{
	_cleanup_free_ char *command = NULL, *line = NULL;
	size_t n = 0;
	FILE *f;

	assert_true(asprintf(&command, "LC_ALL=C perf script -D -i %s 2>/dev/null", path) > 0);
	f = popen(command, "re");
	assert_non_null(f);
	while (getline(&line, &n, f) > 0)
		read_line(ret, line);
	assert_int_equal(pclose(f), 0);
}

static const struct printed *find_printed(const struct printed_samples *p, uint64_t time)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->all[i].time == time)
			return &p->all[i];
	fail_msg("perf prints no sample at %" PRIu64, time);
	return NULL;
}

static void check_sample(const struct printed *expected, const struct event *e, uint16_t machine)
{
	const struct sample *s = &e->sample;
	struct user_registers r;

	assert_int_equal(s->n_user_stack, expected->n_stack);
	assert_int_equal(user_registers_read(s, machine, &r), expected->has_registers);
	if (!expected->has_registers)
		return;
	assert_int_equal(r.ip, expected->ip);
	assert_int_equal(r.sp, expected->sp);
	assert_int_equal(r.fp, expected->fp);
	assert_int_equal(r.values[15], expected->r15);
	if (s->mode == CPU_MODE_USER)
		assert_int_equal(r.ip, s->ip);
}

static void test_are_those_that_perf_prints(void **state)
{
	_cleanup_(recording_freep) struct recording *r = NULL;
	_cleanup_free_ char *path = NULL;
	struct printed_samples printed = { 0 };
	struct fault fault;
	struct event e;
	size_t n = 0, n_with_stack = 0;

	assert_true(asprintf(&path, "%s/perf.data", folder) > 0);
	read_printed(&printed, path);
	assert_int_equal(recording_open(&r, path, false, &fault), 0);
	while (recording_next(r, &e, &fault) > 0) {
		if (e.kind != EVENT_SAMPLE)
			continue;
		check_sample(find_printed(&printed, e.time_ns), &e, recording_info(r)->machine);
		assert_true(e.sample.n_user_stack <= STACK_BYTES);
		n_with_stack += e.sample.n_user_stack > 0;
		n++;
	}
	assert_int_equal(n, printed.n);
	assert_true(n_with_stack > 10);
	free(printed.all);
}

static bool record(void)
{
	_cleanup_free_ char *command = NULL;

	assert_true(asprintf(&command,
			     "perf record -q -e cpu-clock -F 999 --call-graph dwarf,%d "
			     "-o %s/perf.data -- sh -c '" WORK "' >/dev/null 2>&1",
			     STACK_BYTES, folder) > 0);
	return system(command) == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_are_those_that_perf_prints),
	};
	_cleanup_free_ char *path = NULL;
	int r = EXIT_SKIP;

	if (!mkdtemp(folder) || asprintf(&path, "%s/perf.data", folder) < 0)
		return EXIT_FAILURE;
	if (record())
		r = cmocka_run_group_tests(tests, NULL, NULL);
	else
		printf("skipped: perf is missing or may not record here\n");
	unlink(path);
	rmdir(folder);
	return r;
}
