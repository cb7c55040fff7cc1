/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/collector/group-lookup.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

/* The linker has it called instead. */
void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a test fails, too */
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The control groups of this process, as the kernel has them. */
static void read_own_groups(char *ret, size_t n)
{
	FILE *f = fopen("/proc/self/cgroup", "re");

	assert_non_null(f);
	ret[fread(ret, 1, n - 1, f)] = '\0';
	fclose(f);
}

static void a_process_is_in_a_group_that_the_kernel_names(void **state)
{
	_cleanup_(group_lookup_freep) struct group_lookup *lookup = NULL;
	char groups[4096], line[4096];
	const struct group *group;

	assert_int_equal(group_lookup_new(&lookup), 0);
	assert_int_equal(group_lookup_find(lookup, getpid(), &group), 1);
	read_own_groups(groups, sizeof(groups));
	snprintf(line, sizeof(line), ":%s\n", group->path);
	assert_non_null(strstr(groups, line));
	assert_true(group->unit || strcmp(group->path, "/") == 0);
}

static void libsystemd_is_asked_once_for_all_processes_of_a_group(void **state)
{
	_cleanup_(group_lookup_freep) struct group_lookup *lookup = NULL;
	const struct group *own, *childs;
	pid_t child = start_child();

	assert_int_equal(group_lookup_new(&lookup), 0);
	assert_int_equal(group_lookup_find(lookup, getpid(), &own), 1);
	own->path[0] = '!'; /* libsystemd would tell another one */
	assert_int_equal(group_lookup_find(lookup, child, &childs), 1);
	end_child(child);
	assert_int_equal(childs->path[0], '!');
}

static void a_process_that_has_ended_is_in_no_group(void **state)
{
	_cleanup_(group_lookup_freep) struct group_lookup *lookup = NULL;
	const struct group *group;
	pid_t child = start_child();

	end_child(child);
	assert_int_equal(group_lookup_new(&lookup), 0);
	assert_int_equal(group_lookup_find(lookup, getpid(), &group), 1);
	assert_int_equal(group_lookup_find(lookup, child, &group), 0);
	assert_int_equal(group_lookup_find(lookup, 0, &group), 0);
}

static void a_group_that_cannot_be_remembered_is_found(void **state)
{
	_cleanup_(group_lookup_freep) struct group_lookup *lookup = NULL;
	const struct group *group;
	int r;

	assert_int_equal(group_lookup_new(&lookup), 0);
	no_memory = true;
	r = group_lookup_find(lookup, getpid(), &group);
	no_memory = false;
	assert_int_equal(r, 1);
	assert_int_equal(group->path[0], '/');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_in_a_group_that_the_kernel_names),
		cmocka_unit_test(libsystemd_is_asked_once_for_all_processes_of_a_group),
		cmocka_unit_test(a_process_that_has_ended_is_in_no_group),
		cmocka_unit_test(a_group_that_cannot_be_remembered_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
