/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file system that becomes read-only, as one does after errors of its disk: windows that are
 * there can be read, those that come are refused, and nothing is renamed. It is mounted in a
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

/* While files are open for writing, no file system is remounted by hand; a full one refuses, too.
 */
static void test_what_is_there_can_be_read_while_nothing_can_be_written(void **state)
{
	struct store *store = temp_store_open(stored.path, 0);
	char filler[300];
	struct fault fault;
	FILE *f;
	int r = 0;

	snprintf(filler, sizeof(filler), "%s/filler", stored.folder);
	f = fopen(filler, "w");
	assert_non_null(f);
	while (r == 0)
		r = putc('x', f) == EOF || fflush(f) == EOF ? 1 : 0;
	fclose(f);
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
