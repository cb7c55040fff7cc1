/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that writes windows as fast as it can is killed, N_KILLS times, at moments at random:
 * while it opens the database, makes it, writes, removes old windows, moves the log into the file.
 * Each time all windows that it said were written are there, and the database is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

/* Under sanitizers each takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define N_KILLS 40
#else
#define N_KILLS 100
#endif
#define N_PER_FILE                                                                    \
	10 /* kills, then the next database: checking it takes as long as it is large \
	    */
#define MAX_US     40000 /* until the kill, from the start or from a window that was written */
#define N_PROFILES 40

static struct profile *profiles[N_PROFILES];

/* What window @id holds. */
static const struct profile *profile_of(int64_t id)
{
	return profiles[id % N_PROFILES];
}

static int make_profiles(void **state)
{
	for (uint64_t i = 0; i < N_PROFILES; i++)
		profiles[i] = random_profile_of_one_user(i);
	return 0;
}

static int free_profiles(void **state)
{
	for (size_t i = 0; i < N_PROFILES; i++)
		profile_free(profiles[i]);
	return 0;
}

/* The process to be killed: each id goes into the pipe once its window is written. */
static _Noreturn void write_windows(const char *path, uint64_t max_bytes, int fd)
{
	struct store *store = temp_store_open(path, max_bytes);
	struct store_status status = temp_store_status(store);
	int64_t id = (int64_t)(status.last_us / 10000000); /* window i is the i-th of 10 s */

	for (;;) {
		struct window window = temp_store_window((uint64_t)++id - 1);
		int64_t added = temp_store_add(store, &window, profile_of(id));

		TEMP_STORE_CHECK(added == id, "window %d is %d", (int)id, (int)added);
		TEMP_STORE_CHECK(write(fd, &id, sizeof(id)) == sizeof(id), "the pipe is closed");
	}
}

static pid_t start_writer(const char *path, uint64_t max_bytes, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		write_windows(path, max_bytes, fds[1]);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

/*
 * Kills a writer while it starts, or after it has written some windows. Returns the last window
 * that it said was written, or @last.
 */
static int64_t kill_writer(const char *path, uint64_t max_bytes, uint64_t *random, int64_t last)
{
	uint32_t n_first = random_below(random, 4) == 0 ? 0 : 1 + random_below(random, 12);
	struct timespec wait = { .tv_nsec = random_below(random, MAX_US) * 1000L };
	int64_t id, first = last;
	pid_t pid;
	int fd, status;

	pid = start_writer(path, max_bytes, &fd);
	while (last - first < n_first && read(fd, &id, sizeof(id)) == sizeof(id))
		assert_int_equal(id, ++last);
	nanosleep(&wait, NULL);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* the pipe has room for more than is written meanwhile */
	while (read(fd, &id, sizeof(id)) == sizeof(id))
		assert_int_equal(id, ++last);
	close(fd);
	return last;
}

/*
 * Are all windows there, of which @last was the last said to be written; but for those that the
 * limit took? Returns the last there is: one may have been written and not yet said.
 */
static int64_t check(const char *path, uint64_t max_bytes, int64_t last)
{
	struct store *store = temp_store_open(path, max_bytes);
	struct store_status status = temp_store_status(store);
	int64_t first = (int64_t)(status.first_us / 10000000) + 1;
	int64_t end = (int64_t)(status.last_us / 10000000);

	assert_string_equal(status.moved_to, "");
	if (status.n_windows == 0)
		first = 1;
	assert_true(end == last || end == last + 1);
	assert_int_equal(status.n_windows, end - first + 1);
	assert_true(first == 1 || max_bytes > 0);
	for (int64_t id = first; id <= end; id++) {
		_cleanup_(profile_freep) struct profile *back = temp_store_read(store, id);

		assert_non_null(back);
		assert_true(profile_equal(profile_of(id), back));
	}
	store_free(store);
	return end;
}

/* Returns the last window of the database, @last before. */
static int64_t kill_once(const char *path, uint64_t max_bytes, uint64_t *random, int64_t last)
{
	last = kill_writer(path, max_bytes, random, last);
	if (access(path, F_OK) == 0) /* else it was killed before it made it */
		temp_store_check(path);
	return check(path, max_bytes, last);
}

static void test_killed_while_writing(void **state)
{
	int64_t n_windows = 0;
	uint64_t random = 1;

	for (int i = 0; i < N_KILLS / 2 / N_PER_FILE; i++) {
		struct temp_store stored;
		int64_t last = 0;

		temp_store_init(&stored);
		for (int k = 0; k < N_PER_FILE; k++)
			last = kill_once(stored.path, 0, &random, last);
		temp_store_done(&stored);
		n_windows += last;
	}
	print_message("%d windows\n", (int)n_windows);
	assert_true(n_windows > N_KILLS);
}

static void test_killed_while_removing(void **state)
{
	struct temp_store stored;
	uint64_t random = 2;
	int64_t last = 0;

	temp_store_init(&stored);
	for (int i = 0; i < N_KILLS / 2; i++)
		last = kill_once(stored.path, 512 << 10, &random, last);
	temp_store_done(&stored);
	print_message("%d windows\n", (int)last);
	assert_true(last > N_KILLS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_while_writing),
		cmocka_unit_test(test_killed_while_removing),
	};

	return cmocka_run_group_tests(tests, make_profiles, free_profiles);
}
