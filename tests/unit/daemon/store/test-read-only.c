/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file system that becomes read-only, as one does after errors of its disk: windows that are
 * there can be read, those that come are refused, and nothing is renamed. Where it, or a full one,
 * keeps the database from being opened for writing, that is done later. It is mounted in a
 * namespace of this program's own; 77, skipped, where none is allowed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/store/mark.h"
#include "daemon/store/verify.h"
#include "tests/support/seeded-store.h"

#define SKIPPED 77

static char place[] = "/tmp/test-read-only-XXXXXX";
static struct temp_store stored;

static void make_read_only(bool read_only)
{
	assert_int_equal(mount(NULL, place, NULL, MS_REMOUNT | (read_only ? MS_RDONLY : 0), NULL),
			 0);
}

/* Where it is so when the daemon starts. */
static void test_it_cannot_be_opened_then(void **state)
{
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };

	make_read_only(true);
	assert_int_equal(store_open(&store, stored.path, &settings, &fault), -EROFS);
	assert_null(store);
	assert_non_null(strstr(fault.text, stored.path));
	make_read_only(false);
	store = temp_store_open(stored.path, 0);
	assert_all_are_there(store);
	assert_int_equal(temp_store_status(store).n_moved, 0);
	store_free(store);
}

static int on_window(const struct window *window, void *userdata)
{
	++*(size_t *)userdata;
	return 0;
}

static size_t count_windows(struct store *store)
{
	struct fault fault;
	size_t n = 0;

	assert_int_equal(store_for_each(store, 0, UINT64_MAX, on_window, &n, &fault), 0);
	return n;
}

/* Nothing is written while windows are read; the first answer is why. */
static void assert_refused(struct store *store)
{
	struct store_verify *verify = NULL;
	struct fault fault = { 0 };

	assert_int_equal(try_to_add(store, 8, &fault), -EROFS);
	assert_non_null(strstr(fault.text, stored.path));
	assert_int_equal(store_remove_mark(store, "nothing", &fault), -EROFS);
	assert_int_equal(store_verify_new(&verify, store, &fault), -EROFS);
	assert_int_equal(store_roll(store, &fault), 0);
	assert_non_null(strstr(temp_store_status(store).unopened, stored.path));
	assert_all_are_there(store);
}

/* What a daemon does that starts then. */
static void test_it_is_opened_later_by_who_adds_a_window(void **state)
{
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };

	make_read_only(true);
	assert_int_equal(store_open_later(&store, stored.path, &settings, &fault), 0);
	assert_non_null(strstr(temp_store_status(store).unopened, stored.path));
	assert_all_are_there(store);
	assert_refused(store);
	assert_int_equal(temp_store_status(store).n_windows, N_WINDOWS);
	make_read_only(false);
	assert_true(add_seed(store, 8) > N_WINDOWS);
	assert_string_equal(temp_store_status(store).unopened, "");
	assert_true(count_windows(store) > N_WINDOWS);
	assert_all_are_there(store);
	assert_int_equal(temp_store_status(store).n_moved, 0);
	store_free(store);
	temp_store_check(stored.path);
}

/* A process that ends without closing the database: its log stays. */
static void add_and_die(uint64_t seed)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		add_seed(temp_store_open(stored.path, 0), seed);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_what_is_in_the_log_alone_can_be_read(void **state)
{
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };
	size_t n;

	store = temp_store_open(stored.path, 0);
	n = count_windows(store);
	store_free(store);
	add_and_die(9);
	make_read_only(true);
	assert_int_equal(store_open_later(&store, stored.path, &settings, &fault), 0);
	assert_int_equal(count_windows(store), n + 1);
	assert_refused(store);
	make_read_only(false);
	add_seed(store, 10);
	assert_int_equal(count_windows(store), n + 2);
	store_free(store);
	temp_store_check(stored.path);
}

static void test_one_that_is_in_use_is_not_waited_for(void **state)
{
	struct store_settings settings = { 0 };
	struct store *first = temp_store_open(stored.path, 0), *second = NULL;
	struct fault fault = { 0 };

	assert_int_equal(store_open_later(&second, stored.path, &settings, &fault), -EBUSY);
	assert_null(second);
	store_free(first);
}

static void fill(char filler[300])
{
	static const char block[4096];
	FILE *f;

	snprintf(filler, 300, "%s/filler", stored.folder);
	f = fopen(filler, "w");
	assert_non_null(f);
	setbuf(f, NULL);
	for (size_t n = sizeof(block); n > 0; n = n > 1 ? 1 : 0)
		while (fwrite(block, 1, n, f) == n)
			;
	fclose(f);
}

static void test_one_for_which_there_is_no_space_is_made_later(void **state)
{
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };
	char filler[300], path[300];

	snprintf(path, sizeof(path), "%s/other.db", stored.folder);
	fill(filler);
	assert_int_equal(store_open_later(&store, path, &settings, &fault), 0);
	assert_non_null(strstr(temp_store_status(store).unopened, "no space left"));
	assert_int_equal(count_windows(store), 0);
	assert_int_equal(try_to_add(store, 1, &fault), -ENOSPC);
	assert_int_equal(unlink(filler), 0);
	assert_true(add_seed(store, 1) > 0);
	assert_string_equal(temp_store_status(store).unopened, "");
	assert_int_equal(count_windows(store), 1);
	store_free(store);
	temp_store_check(path);
}

/* With a log, which has all that opening it needs, or without one. */
static void assert_read_while_full(bool has_log)
{
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };
	char filler[300];

	if (has_log)
		add_and_die(11);
	fill(filler);
	assert_int_equal(store_open_later(&store, stored.path, &settings, &fault), 0);
	assert_int_equal(*temp_store_status(store).unopened == 0, has_log);
	assert_all_are_there(store);
	assert_int_equal(try_to_add(store, 12, &fault), -ENOSPC);
	assert_all_are_there(store);
	assert_int_equal(unlink(filler), 0);
	assert_true(add_seed(store, 12) > N_WINDOWS);
	assert_string_equal(temp_store_status(store).unopened, "");
	assert_all_are_there(store);
	store_free(store);
	temp_store_check(stored.path);
}

static void test_what_is_there_can_be_read_from_a_full_one(void **state)
{
	assert_read_while_full(false);
	assert_read_while_full(true);
}

/* While files are open for writing, no file system is remounted by hand; a full one refuses, too.
 */
static void test_what_is_there_can_be_read_while_nothing_can_be_written(void **state)
{
	struct store *store = temp_store_open(stored.path, 0);
	char filler[300];
	struct fault fault;
	int r = 0;

	fill(filler);
	for (uint64_t i = 1; r >= 0 && i < 1000; i++)
		r = try_to_add(store, i, &fault);
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(fault.text, "no space left"));
	assert_all_are_there(store);
	assert_int_equal(temp_store_status(store).n_moved, 0);
	assert_int_equal(unlink(filler), 0);
	assert_true(add_seed(store, 7) > N_WINDOWS);
	store_free(store);
	temp_store_check(stored.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_cannot_be_opened_then),
		cmocka_unit_test(test_it_is_opened_later_by_who_adds_a_window),
		cmocka_unit_test(test_what_is_in_the_log_alone_can_be_read),
		cmocka_unit_test(test_one_that_is_in_use_is_not_waited_for),
		cmocka_unit_test(test_one_for_which_there_is_no_space_is_made_later),
		cmocka_unit_test(test_what_is_there_can_be_read_from_a_full_one),
		cmocka_unit_test(test_what_is_there_can_be_read_while_nothing_can_be_written),
	};
	int r;

	if (!mkdtemp(place))
		return 1;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("test", place, "tmpfs", 0, "size=8m") < 0) {
		fprintf(stderr, "skipped: no file system can be mounted: %s\n", strerror(errno));
		rmdir(place);
		return SKIPPED;
	}
	temp_store_init_in(&stored, place);
	make_database(stored.path);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	temp_store_done(&stored);
	umount2(place, MNT_DETACH);
	rmdir(place);
	return r;
}
