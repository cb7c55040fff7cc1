/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "daemon/naming/short-lived.h"
#include "tests/support/profile-fixture.h"

#define BEGAN_NS 1000

/* A process that has exited: its number is not in use again soon. */
static int32_t exited(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static struct profile *begin(void)
{
	struct profile *p = fixture_new();

	p->info.start_ns = BEGAN_NS;
	fixture_object(p, "/bin/x", 1);
	return p;
}

/* Of a compiler, but for what the caller changes. */
static struct profile_process compiler(void)
{
	return (struct profile_process){
		.pid = exited(),
		.start_ns = BEGAN_NS,
		.comm = "cc1",
		.executable = "/usr/libexec/cc1",
		.unit = "build.service",
		.uid = 1000,
		.samples = 2,
	};
}

/* With two samples at one place of the first object. */
static void add(struct profile *p, const struct profile_process *process)
{
	fixture_stack(p, fixture_index(profile_add_process(p, process)), PROFILE_NONE, 0, 0x100, 2);
}

static void add_compilers(struct profile *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct profile_process process = compiler();

		process.start_ns += i;
		add(p, &process);
	}
}

static void unite(struct profile *p)
{
	short_lived_unite(p);
	assert_int_equal(profile_finalize(p), 0);
}

static void test_many_are_one(void **state)
{
	struct profile *p = begin();

	add_compilers(p, SHORT_LIVED_MIN);
	unite(p);
	assert_int_equal(p->n_processes, 1);
	assert_int_equal(p->processes[0].pid, -1);
	assert_int_equal(p->processes[0].start_ns, 0);
	assert_int_equal(p->processes[0].n_gone, SHORT_LIVED_MIN);
	assert_int_equal(p->processes[0].samples, 2 * SHORT_LIVED_MIN);
	assert_string_equal(p->processes[0].comm, "cc1");
	assert_int_equal(p->n_stacks, 1);
	assert_int_equal(p->stacks[0].samples, 2 * SHORT_LIVED_MIN);
	profile_free(p);
}

/* As where windows had to be merged before they were named. */
static void test_a_finalized_profile(void **state)
{
	struct profile *p = begin();

	add_compilers(p, SHORT_LIVED_MIN);
	assert_int_equal(profile_finalize(p), 0);
	unite(p);
	assert_int_equal(p->n_processes, 1);
	assert_int_equal(p->processes[0].n_gone, SHORT_LIVED_MIN);
	assert_int_equal(p->stacks[0].samples, 2 * SHORT_LIVED_MIN);
	profile_free(p);
}

static void test_few_stay_apart(void **state)
{
	struct profile *p = begin();

	add_compilers(p, SHORT_LIVED_MIN - 1);
	unite(p);
	assert_int_equal(p->n_processes, SHORT_LIVED_MIN - 1);
	for (size_t i = 0; i < p->n_processes; i++) {
		assert_true(p->processes[i].pid > 0);
		assert_int_equal(p->processes[i].n_gone, 0);
	}
	profile_free(p);
}

static void test_who_runs_or_ran_before_stays(void **state)
{
	struct profile_process other;
	struct profile *p = begin();

	add_compilers(p, SHORT_LIVED_MIN);
	other = compiler();
	other.start_ns = BEGAN_NS - 1;
	add(p, &other);
	other = compiler();
	other.start_ns = 0;
	add(p, &other);
	other = compiler();
	other.pid = getpid();
	add(p, &other);
	unite(p);
	assert_int_equal(p->n_processes, 4);
	assert_int_equal(p->processes[0].n_gone, SHORT_LIVED_MIN);
	for (size_t i = 1; i < p->n_processes; i++)
		assert_true(p->processes[i].pid > 0 && p->processes[i].n_gone == 0);
	profile_free(p);
}

/* What one may see of them, and what they are called, stays as it was. */
static void test_others_are_not_counted_with_them(void **state)
{
	struct profile_process others[5];
	struct profile *p = begin();

	for (size_t i = 0; i < 5; i++)
		others[i] = compiler();
	others[0].uid = 1001;
	others[1].restricted = true;
	others[2].unit = NULL;
	others[3].comm = "cc2";
	others[4].executable = "/tmp/cc1";
	add_compilers(p, SHORT_LIVED_MIN + 3);
	for (size_t i = 0; i < 5; i++)
		add(p, &others[i]);
	unite(p);
	assert_int_equal(p->n_processes, 6);
	assert_int_equal(p->processes[0].n_gone, SHORT_LIVED_MIN + 3);
	for (size_t i = 1; i < p->n_processes; i++)
		assert_int_equal(p->processes[i].samples, 2);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_are_one),
		cmocka_unit_test(test_a_finalized_profile),
		cmocka_unit_test(test_few_stay_apart),
		cmocka_unit_test(test_who_runs_or_ran_before_stays),
		cmocka_unit_test(test_others_are_not_counted_with_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
