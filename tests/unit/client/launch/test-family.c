/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch/children.h"
#include "client/launch/family.h"
#include "common/util/clock.h"

#define N_CHILDREN 50

/* A process that waits for a byte, starts children, says their numbers, and ends at the next byte.
 */
struct parent {
	int go[2], said[2];
	pid_t pid;
	struct family_moment forked;
};

static pid_t start_child(const struct parent *parent)
{
	char byte;
	pid_t pid = fork();

	if (pid == 0) {
		close(parent->go[1]);
		_exit(read(parent->go[0], &byte, 1) == 1);
	}
	return pid;
}

static void be_parent(const struct parent *parent)
{
	char byte;

	if (read(parent->go[0], &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < N_CHILDREN; i++) {
		pid_t pid = start_child(parent);

		if (write(parent->said[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
	}
	for (int i = 0; i < N_CHILDREN; i++)
		wait(NULL);
	_exit(0);
}

static void start_parent(struct parent *parent)
{
	assert_int_equal(pipe2(parent->go, O_CLOEXEC) | pipe2(parent->said, O_CLOEXEC), 0);
	parent->forked.earliest_ns = clock_ns(CLOCK_MONOTONIC);
	parent->pid = fork();
	assert_true(parent->pid >= 0);
	if (parent->pid == 0)
		be_parent(parent);
	parent->forked.latest_ns = clock_ns(CLOCK_MONOTONIC);
}

/* Reads the numbers of all children, which are alive then. */
static void let_fork(const struct parent *parent, pid_t *children)
{
	assert_int_equal(write(parent->go[1], "", 1), 1);
	for (int i = 0; i < N_CHILDREN; i++)
		assert_int_equal(read(parent->said[0], &children[i], sizeof(pid_t)), sizeof(pid_t));
}

static void end_parent(struct parent *parent)
{
	char bytes[N_CHILDREN] = {};
	int status;

	assert_int_equal(write(parent->go[1], bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(waitpid(parent->pid, &status, 0), parent->pid);
	assert_int_equal(status, 0);
	for (int i = 0; i < 2; i++) {
		close(parent->go[i]);
		close(parent->said[i]);
	}
}

static bool has(struct family *family, pid_t pid, uint64_t start_ns)
{
	const struct profile_process process = { .pid = pid, .start_ns = start_ns };

	return family_has(&process, family);
}

/* At some time between the two, which a family knows to within 100 ms. */
static bool has_between(struct family *family, pid_t pid, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t ns = from_ns; ns < to_ns; ns += 50000000)
		if (has(family, pid, ns))
			return true;
	return has(family, pid, to_ns);
}

static void test_a_family_has_its_processes_by_number_and_time(void **state)
{
	struct parent parent;
	pid_t children[N_CHILDREN];
	struct family *family;
	uint64_t now, minute = 60000000000ull;

	start_parent(&parent);
	assert_int_equal(family_new(&family, parent.pid, &parent.forked), 0);
	assert_int_equal(family_update(family), 0);
	let_fork(&parent, children);
	assert_int_equal(family_update(family), 0);
	now = clock_ns(CLOCK_MONOTONIC);
	assert_true(has(family, parent.pid, parent.forked.earliest_ns));
	assert_false(has(family, parent.pid, 0));
	assert_false(has(family, parent.pid, now + minute));
	assert_false(has(family, getpid(), parent.forked.earliest_ns));
	assert_false(has(family, -1, parent.forked.earliest_ns));
	assert_int_equal(family_n_lost(family), 0);
	for (int i = 0; i < N_CHILDREN; i++) {
		assert_true(has_between(family, children[i], parent.forked.latest_ns, now));
		assert_false(has(family, children[i], now + minute));
	}
	end_parent(&parent);
	family_free(family);
}

struct found {
	pid_t pids[N_CHILDREN + 1];
	size_t n;
	uint64_t earliest_ns, latest_ns; /* of all */
};

static int note(int32_t pid, uint64_t earliest_ns, uint64_t latest_ns, void *userdata)
{
	struct found *found = userdata;

	assert_true(found->n < N_CHILDREN);
	found->pids[found->n++] = pid;
	found->earliest_ns = earliest_ns;
	found->latest_ns = latest_ns;
	return 0;
}

static int refuse(int32_t pid, uint64_t earliest_ns, uint64_t latest_ns, void *userdata)
{
	return -ENOMEM;
}

static void test_children_are_found_once(void **state)
{
	struct parent parent;
	pid_t pids[N_CHILDREN];
	struct children *children;
	struct found found = {};
	int r;

	start_parent(&parent);
	r = children_new(&children, parent.pid);
	if (r == -EOPNOTSUPP) {
		let_fork(&parent, pids);
		end_parent(&parent);
		return; /* the kernel does not tell */
	}
	assert_int_equal(r, 0);
	assert_int_equal(children_look(children, note, &found), 0);
	assert_int_equal(found.n, 0);
	let_fork(&parent, pids);
	for (int i = 0; i < 3; i++)
		assert_int_equal(children_look(children, note, &found), 0);
	assert_int_equal(found.n, N_CHILDREN);
	for (size_t i = 0; i < found.n; i++)
		assert_int_equal(found.pids[i], pids[i]);
	assert_true(found.earliest_ns <= clock_ns(CLOCK_MONOTONIC));
	assert_true(found.latest_ns >= parent.forked.earliest_ns);
	assert_true(children_wait_ms(children) >= 5 && children_wait_ms(children) <= 1000);
	assert_int_equal(children_n_omitted(children), 0);
	end_parent(&parent);
	assert_int_equal(children_look(children, refuse, NULL), 0);
	children_free(children);
}

static void test_an_error_of_who_is_told_is_returned(void **state)
{
	struct parent parent;
	pid_t pids[N_CHILDREN];
	struct children *children;

	start_parent(&parent);
	let_fork(&parent, pids);
	if (children_new(&children, parent.pid) == 0) {
		assert_int_equal(children_look(children, refuse, NULL), -ENOMEM);
		children_free(children);
	}
	end_parent(&parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_family_has_its_processes_by_number_and_time),
		cmocka_unit_test(test_children_are_found_once),
		cmocka_unit_test(test_an_error_of_who_is_told_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
