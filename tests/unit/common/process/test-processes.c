/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who runs what: forks, execs, exits, numbers used again, and whose each process is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/process-events.h"

static void test_a_process_never_heard_of(void **state)
{
	struct processes *p = make();
	struct process_context *i = processes_find(p, 123);

	assert_string_equal(i->comm, ":123");
	assert_int_equal(i->pid, 123);
	assert_null(i->executable);
	assert_int_equal(i->uid, UINT32_MAX);
	assert_int_equal(i->context, PROFILE_NONE);
	assert_at(p, 123, 0x1000, "nothing");
	assert_string_equal(processes_find(p, 0)->comm, "swapper");
	assert_ptr_equal(processes_find(p, 123), i);
	processes_free(p);
}

static void test_exec_replaces_everything(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	comm(p, 5, 5, "sh", true);
	map(p, 5, 0x1000, "/bin/sh");
	map(p, 5, 0x9000, "/lib/libc.so");
	old = process_context_ref(processes_find(p, 5));
	old->context = SAMPLED;
	assert_string_equal(old->executable, "/bin/sh");

	comm(p, 5, 5, "ls", true);
	assert_at(p, 5, 0x9000, "nothing");
	assert_null(processes_find(p, 5)->executable);
	map(p, 5, 0x1000, "/bin/ls");
	assert_string_equal(processes_find(p, 5)->executable, "/bin/ls");
	assert_string_equal(processes_find(p, 5)->comm, "ls");
	assert_at(p, 5, 0x1800, "/bin/ls");
	assert_int_equal(processes_find(p, 5)->context, PROFILE_NONE);

	/* What was sampled means what it meant. */
	assert_string_equal(path_at(p, old, 0x1800), "/bin/sh");
	assert_string_equal(path_at(p, old, 0x9000), "/lib/libc.so");
	assert_string_equal(old->comm, "sh");
	process_context_unref(old);
	processes_free(p);
}

/* Kernels before 3.16 do not tell exec: the new program is what lies where the old one did. */
static void test_exec_that_is_not_told(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	comm(p, 5, 5, "perf", false);
	map(p, 5, 0x1000, "/usr/bin/perf");
	map(p, 5, 0x9000, "/lib/libc.so");
	old = process_context_ref(processes_find(p, 5));
	old->context = SAMPLED;
	comm(p, 5, 5, "test", false);
	map(p, 5, 0x1000, "/tmp/test");
	assert_at(p, 5, 0x1000, "/tmp/test");
	assert_string_equal(processes_find(p, 5)->executable, "/tmp/test");
	assert_string_equal(path_at(p, old, 0x1000), "/usr/bin/perf");
	assert_string_equal(old->executable, "/usr/bin/perf");
	process_context_unref(old);
	processes_free(p);
}

static void test_fork_copies_and_each_goes_its_own_way(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "sh", true);
	map(p, 5, 0x1000, "/bin/sh");
	fork_at(p, 5, 6, 6, 777, false);
	assert_string_equal(processes_find(p, 6)->comm, "sh");
	assert_string_equal(processes_find(p, 6)->executable, "/bin/sh");
	assert_int_equal(processes_find(p, 6)->pid, 6);
	assert_int_equal(processes_find(p, 6)->start_ns, 777);
	assert_int_equal(processes_find(p, 5)->start_ns, 0);
	assert_at(p, 6, 0x1000, "/bin/sh");

	map(p, 5, 0x5000, "/lib/parent.so");
	map(p, 6, 0x6000, "/lib/child.so");
	assert_at(p, 5, 0x5000, "/lib/parent.so");
	assert_at(p, 6, 0x5000, "nothing");
	assert_at(p, 5, 0x6000, "nothing");
	assert_at(p, 6, 0x6000, "/lib/child.so");
	processes_free(p);
}

static void test_fork_of_a_parent_never_heard_of(void **state)
{
	struct processes *p = make();

	fork_at(p, 5, 6, 6, 777, false);
	assert_string_equal(processes_find(p, 6)->comm, ":6");
	assert_int_equal(processes_find(p, 6)->start_ns, 777);
	processes_free(p);
}

/* As perf tells of those that run when it starts: they have run exec since, so nothing is their
 * parent's. */
static void test_fork_of_one_that_has_run_exec_since(void **state)
{
	struct processes *p = make();

	comm(p, 1, 1, "init", true);
	map(p, 1, 0x1000, "/sbin/init");
	fork_at(p, 1, 6, 6, 0, true);
	assert_at(p, 6, 0x1000, "nothing");
	assert_null(processes_find(p, 6)->executable);
	comm(p, 6, 6, "getty", false);
	map(p, 6, 0x3000, "/lib/libc.so"); /* they are told in the order of their addresses */
	map(p, 6, 0x4000, "/sbin/getty");
	assert_string_equal(processes_find(p, 6)->executable, "/sbin/getty");
	assert_string_equal(processes_find(p, 6)->comm, "getty");
	processes_free(p);
}

static void test_threads_share(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "server", true);
	map(p, 5, 0x1000, "/bin/server");
	fork_at(p, 5, 5, 50, 1, false);
	fork_at(p, 5, 5, 51, 2, false);
	map(p, 5, 0x9000, "/lib/late.so");
	assert_at(p, 5, 0x9000, "/lib/late.so");
	comm(p, 5, 50, "worker", false);
	assert_string_equal(processes_thread_comm(p, 5, 50), "worker");
	assert_string_equal(processes_thread_comm(p, 5, 51), "server");
	assert_string_equal(processes_thread_comm(p, 5, 5), "server");
	assert_string_equal(processes_find(p, 5)->comm, "server");
	assert_null(processes_thread_comm(p, 99, 99));
	/* A thread takes the name of the one that made it. */
	{
		struct event e = { .kind = EVENT_FORK,
				   .pid = 5,
				   .tid = 52,
				   .fork = { .parent_pid = 5, .parent_tid = 50 } };

		apply(p, &e);
	}
	assert_string_equal(processes_thread_comm(p, 5, 52), "worker");
	processes_free(p);
}

static void test_a_new_name_without_exec(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	comm(p, 5, 5, "before", true);
	map(p, 5, 0x1000, "/bin/x");
	old = processes_find(p, 5);
	process_context_ref(old)->context = SAMPLED;
	comm(p, 5, 5, "before", false);
	assert_ptr_equal(processes_find(p, 5), old);
	comm(p, 5, 5, "after", false);
	assert_string_equal(processes_find(p, 5)->comm, "after");
	assert_string_equal(processes_find(p, 5)->executable, "/bin/x");
	assert_at(p, 5, 0x1000, "/bin/x");
	assert_string_equal(old->comm, "before");
	map(p, 5, 0x1000, "/bin/y");
	assert_at(p, 5, 0x1000, "/bin/y");
	assert_string_equal(path_at(p, old, 0x1000), "/bin/x");
	process_context_unref(old);
	processes_free(p);
}

static void test_samples_may_come_after_the_exit(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "x", true);
	map(p, 5, 0x1000, "/bin/x");
	exit_of(p, 5, 5);
	assert_at(p, 5, 0x1000, "/bin/x");
	/* Others exit: it is not kept for ever. */
	for (int32_t pid = 100; pid < 3000; pid++) {
		comm(p, pid, pid, "y", true);
		exit_of(p, pid, pid);
	}
	assert_at(p, 5, 0x1000, "nothing");
	assert_string_equal(processes_find(p, 5)->comm, ":5");
	processes_free(p);
}

/* The exits of @n processes, which crowd out the ones that are gone. */
static void crowd(struct processes *p, int32_t first)
{
	for (int32_t pid = first; pid < first + 2000; pid++) {
		comm(p, pid, pid, "crowd", true);
		exit_of(p, pid, pid);
	}
}

static void test_a_process_lives_as_long_as_one_of_its_threads(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "x", true);
	map(p, 5, 0x1000, "/bin/x");
	fork_at(p, 5, 5, 50, 1, false);
	exit_of(p, 5, 5); /* the first thread may go first */
	crowd(p, 10000);
	assert_at(p, 5, 0x1000, "/bin/x");
	exit_of(p, 5, 50);
	crowd(p, 20000);
	assert_at(p, 5, 0x1000, "nothing");
	processes_free(p);
}

/* Known by its mappings alone, a thread's exit is not its end. */
static void test_the_exit_of_a_thread_never_heard_of(void **state)
{
	struct processes *p = make();

	map(p, 5, 0x1000, "/bin/x");
	exit_of(p, 5, 50);
	crowd(p, 10000);
	assert_at(p, 5, 0x1000, "/bin/x");
	exit_of(p, 5, 5);
	crowd(p, 20000);
	assert_at(p, 5, 0x1000, "nothing");
	processes_free(p);
}

static void test_a_pid_used_again(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	comm(p, 1, 1, "init", true);
	comm(p, 5, 5, "x", true);
	map(p, 5, 0x1000, "/bin/x");
	old = process_context_ref(processes_find(p, 5));
	old->context = SAMPLED;
	exit_of(p, 5, 5);
	fork_at(p, 1, 5, 5, 900, false);
	assert_string_equal(processes_find(p, 5)->comm, "init");
	assert_int_equal(processes_find(p, 5)->start_ns, 900);
	assert_at(p, 5, 0x1000, "nothing");
	assert_string_equal(path_at(p, old, 0x1000), "/bin/x");
	crowd(p, 10000);
	assert_string_equal(processes_find(p, 5)->comm, "init");
	process_context_unref(old);
	processes_free(p);
}

/* The same where the exits were lost: threads of the old one are none of the new. */
static void test_a_pid_used_again_without_an_exit(void **state)
{
	struct processes *p = make();

	comm(p, 1, 1, "init", true);
	map(p, 1, 0x1000, "/sbin/init");
	comm(p, 5, 5, "x", true);
	fork_at(p, 5, 5, 50, 1, false);
	comm(p, 5, 50, "worker", false);
	fork_at(p, 1, 5, 5, 900, false);
	assert_string_equal(processes_thread_comm(p, 5, 50), "init");
	fork_at(p, 5, 5, 51, 1000, false);
	exit_of(p, 5, 51);
	crowd(p, 10000);
	assert_at(p, 5, 0x1000, "/sbin/init");
	/* A thread's number for another process's thread. */
	fork_at(p, 1, 1, 5, 2000, false);
	assert_string_equal(processes_thread_comm(p, 1, 5), "init");
	processes_free(p);
}

static void assert_identity(struct processes *p, int32_t pid, uint32_t uid, uint64_t cgroup,
			    const char *unit)
{
	const struct process_context *i = processes_find(p, pid);

	assert_int_equal(i->uid, uid);
	assert_int_equal(i->cgroup, cgroup);
	assert_string_equal(i->unit ? i->unit : "none", unit);
}

static struct process_context *identify(struct processes *p, int32_t pid, uint32_t uid,
					uint64_t cgroup, const char *unit)
{
	struct process_context *i = processes_find(p, pid);

	assert_int_equal(processes_identify(p, &i,
					    &(struct process_owner){
						    .uid = uid, .cgroup = cgroup, .unit = unit }),
			 0);
	assert_ptr_equal(i, processes_find(p, pid));
	return i;
}

/* What is said once goes on to children and new names; after an exec the unit is only a guess. */
static void test_whose_it_is(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "x", true);
	assert_identity(p, 5, UINT32_MAX, 0, "none");
	identify(p, 5, 1000, 77, "x.service");
	fork_at(p, 5, 6, 6, 100, false);
	comm(p, 6, 6, "y", false);
	assert_identity(p, 6, 1000, 77, "x.service");
	comm(p, 6, 6, "z", true);
	assert_identity(p, 6, 1000, 0, "x.service");
	identify(p, 6, 0, 78, NULL);
	assert_identity(p, 6, 0, 78, "none");
	assert_identity(p, 5, 1000, 77, "x.service");
	processes_free(p);
}

/* What nobody has looked at since it began, or since its exec, counts as restricted. */
static void test_what_is_not_known_is_restricted(void **state)
{
	struct processes *p = make();
	struct process_context *i;

	assert_true(processes_find(p, 5)->restricted);
	comm(p, 5, 5, "sh", true);
	assert_true(processes_find(p, 5)->restricted);
	identify(p, 5, 1000, 77, NULL);
	assert_false(processes_find(p, 5)->restricted);
	fork_at(p, 5, 6, 6, 100, false);
	comm(p, 6, 6, "y", false);
	assert_false(processes_find(p, 6)->restricted);
	comm(p, 6, 6, "su", true);
	assert_true(processes_find(p, 6)->restricted);
	assert_false(processes_find(p, 5)->restricted);
	i = processes_find(p, 5);
	assert_int_equal(
		processes_identify(
			p, &i,
			&(struct process_owner){ .uid = 1000, .restricted = true, .cgroup = 77 }),
		0);
	assert_true(processes_find(p, 5)->restricted);
	processes_free(p);
}

/* As a server that gives up its privileges: what it did before is root's for ever. */
static void test_what_was_sampled_stays_whose_it_was(void **state)
{
	struct processes *p = make();
	struct process_context *i, *before;

	comm(p, 5, 5, "x", true);
	before = process_context_ref(identify(p, 5, 0, 77, "x.service"));
	before->context = 0; /* sampled */
	i = identify(p, 5, 1000, 77, "x.service");
	assert_ptr_not_equal(i, before);
	assert_ptr_equal(i->space, before->space);
	assert_int_equal(before->uid, 0);
	assert_int_equal(i->uid, 1000);
	assert_ptr_equal(identify(p, 5, 1000, 78, "y.service"), i); /* not sampled yet */
	process_context_unref(before);
	processes_free(p);
}

static size_t n_processes_named(struct processes *p, int32_t first, int32_t n)
{
	size_t n_named = 0;
	char made_up[16];

	for (int32_t pid = first; pid < first + n; pid++) {
		snprintf(made_up, sizeof(made_up), ":%d", pid);
		n_named += strcmp(processes_find(p, pid)->comm, made_up) != 0;
	}
	return n_named;
}

/* Its first thread exits, it takes that one's number, and exits by it: of its own none is told. */
static void test_exec_of_another_thread(void **state)
{
	struct processes *p = make();

	for (int32_t pid = 1000; pid < 1100; pid++) {
		fork_at(p, 1, pid, pid, 0, false);
		fork_at(p, pid, pid, pid + 50000, 0, false);
		exit_of(p, pid, pid);
		comm(p, pid, pid, "x", true);
		assert_string_equal(processes_find(p, pid)->comm, "x");
		exit_of(p, pid, pid);
	}
	crowd(p, 100000);
	assert_int_equal(n_processes_named(p, 1000, 100), 0);
	processes_free(p);
}

/* Exits that were lost: whoever is not there any more is as if it had exited. */
static void test_who_is_not_seen_is_gone(void **state)
{
	struct processes *p = make();

	for (int32_t pid = 1000; pid < 1100; pid++) {
		comm(p, pid, pid, "x", true);
		fork_at(p, pid, pid, pid + 50000, 0, false);
	}
	apply(p, &(struct event){ .kind = EVENT_SCAN_BEGINS });
	for (int32_t pid = 1000; pid < 1020; pid++)
		comm(p, pid, pid, "x", false);
	apply(p, &(struct event){ .kind = EVENT_SCAN_ENDS });
	assert_int_equal(n_processes_named(p, 1000, 100),
			 100); /* their last samples may come yet */
	crowd(p, 100000);
	assert_int_equal(n_processes_named(p, 1000, 100), 20);
	processes_free(p);
}

/* The child of a thread that has a name has that name. */
static void test_a_child_is_named_after_the_thread_that_forked(void **state)
{
	struct processes *p = make();
	struct event e = { .kind = EVENT_FORK,
			   .pid = 6,
			   .tid = 6,
			   .fork = { .parent_pid = 5, .parent_tid = 51 } };

	comm(p, 5, 5, "server", true);
	fork_at(p, 5, 5, 51, 0, false);
	comm(p, 5, 51, "worker", false);
	apply(p, &e);
	assert_string_equal(processes_find(p, 6)->comm, "worker");
	assert_string_equal(processes_find(p, 5)->comm, "server");
	processes_free(p);
}

/* Mapped and unmapped at one new address after the other: only the first half is reported. */
static void test_what_is_never_unmapped_is_limited(void **state)
{
	struct processes *p = make();
	char path[2000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	processes_limit_memory(p);
	map_kernel(p, 0xffffffff80000000, 0x1000, 0, "[kernel.kallsyms]_text");
	for (int32_t pid = 1; pid <= 40; pid++) {
		for (uint64_t i = 1; i <= 2000; i++)
			map(p, pid, i << 13, path);
		assert_true(processes_find(p, pid)->space->n_bytes <= 1 << 20);
		assert_at(p, pid, 2000 << 13, path);
	}
	assert_true(address_space_total() < 40 << 20);
	for (int32_t pid = 100; pid <= 1000; pid++)
		for (uint64_t i = 1; i <= 100; i++)
			map(p, pid, i << 13, path);
	assert_true(address_space_total() < 160 << 20);
	assert_at(p, 1, 0xffffffff80000000, "[kernel]");
	processes_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process_never_heard_of),
		cmocka_unit_test(test_exec_replaces_everything),
		cmocka_unit_test(test_exec_that_is_not_told),
		cmocka_unit_test(test_fork_copies_and_each_goes_its_own_way),
		cmocka_unit_test(test_fork_of_a_parent_never_heard_of),
		cmocka_unit_test(test_fork_of_one_that_has_run_exec_since),
		cmocka_unit_test(test_threads_share),
		cmocka_unit_test(test_a_new_name_without_exec),
		cmocka_unit_test(test_samples_may_come_after_the_exit),
		cmocka_unit_test(test_a_process_lives_as_long_as_one_of_its_threads),
		cmocka_unit_test(test_the_exit_of_a_thread_never_heard_of),
		cmocka_unit_test(test_a_pid_used_again),
		cmocka_unit_test(test_a_pid_used_again_without_an_exit),
		cmocka_unit_test(test_whose_it_is),
		cmocka_unit_test(test_what_is_not_known_is_restricted),
		cmocka_unit_test(test_what_was_sampled_stays_whose_it_was),
		cmocka_unit_test(test_exec_of_another_thread),
		cmocka_unit_test(test_who_is_not_seen_is_gone),
		cmocka_unit_test(test_a_child_is_named_after_the_thread_that_forked),
		cmocka_unit_test(test_what_is_never_unmapped_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
