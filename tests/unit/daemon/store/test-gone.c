/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows are read as they are, or as where they are merged: what has exited is one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/store/store.h"
#include "tests/support/temp-store.h"

#define SERVER_PID 7

static bool is_server(int32_t pid)
{
	return pid == SERVER_PID;
}

/* In window @i: a server, a compiler of its own, and a test, which has exited, too. */
static struct profile *make_processes(int32_t i)
{
	const struct profile_process processes[] = {
		{ .pid = SERVER_PID, .comm = "server", .samples = 1 },
		{ .pid = 100, .comm = "test", .samples = 1 },
		{ .pid = 200 + i, .comm = "cc1", .unit = "build.service", .samples = 1 },
		{ .pid = 300 + i, .comm = "cc1", .unit = "other.service", .samples = 1 },
	};
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	for (uint32_t k = 0; k < ARRAY_SIZE(processes); k++) {
		const struct profile_stack stack = { .parent = PROFILE_NONE,
						     .process = k,
						     .frame = { PROFILE_NONE, 1 },
						     .samples = 1 };

		assert_int_equal(profile_add_process(p, &processes[k]), k);
		assert_int_equal(profile_add_stack(p, &stack), k);
	}
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static struct profile *read_merged(struct store *store, int64_t merged_to)
{
	struct window windows[] = { { .id = 1 }, { .id = 2 } };
	bool found[2];
	const struct store_batch batch = { .windows = windows,
					   .found = found,
					   .n = 2,
					   .max_rows = SIZE_MAX,
					   .merged_to = merged_to };
	struct profile *read = NULL;
	struct fault fault;
	size_t n;

	assert_int_equal(store_read_many(store, &batch, &n, &read, &fault), 0);
	assert_int_equal(n, 2);
	return read;
}

/* By name and unit; but the test is in the next window as well. */
static void test_processes_that_have_gone_are_one_if_wanted(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *each = NULL, *merged = NULL;
	size_t n_gone = 0;

	store_set_alive(store, is_server);
	for (int32_t i = 1; i <= 3; i++) {
		_cleanup_(profile_freep) struct profile *p = make_processes(i);
		struct window window = temp_store_window((uint64_t)i);

		assert_int_equal(temp_store_add(store, &window, p), i);
	}
	each = read_merged(store, 0);
	assert_int_equal(each->n_processes, 6);
	merged = read_merged(store, 2);
	assert_int_equal(merged->n_processes, 4);
	assert_int_equal(merged->n_stacks, 4);
	for (size_t i = 0; i < merged->n_processes; i++) {
		const struct profile_process *process = &merged->processes[i];
		bool has_gone = strcmp(process->comm, "cc1") == 0;

		assert_int_equal(process->pid == -1, has_gone);
		assert_int_equal(process->n_gone, has_gone ? 2 : 0);
		assert_int_equal(process->samples, 2);
		n_gone += has_gone;
	}
	assert_int_equal(n_gone, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_that_have_gone_are_one_if_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
