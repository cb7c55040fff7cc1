/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/binary/open-files.h"

static struct open_file_key by_build_id(uint8_t byte)
{
	struct open_file_key key = { .n_build_id = 20 };

	memset(key.build_id, byte, sizeof(key.build_id));
	return key;
}

/* A file of @n_bytes that has no name. */
static void add(struct open_files *files, struct open_file_key key, off_t n_bytes)
{
	_cleanup_close_ int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, n_bytes), 0);
	open_files_add(files, &key, fd);
}

/* Its size, or -errno. */
static off_t look(struct open_files *files, struct open_file_key key)
{
	_cleanup_close_ int fd = open_files_open(files, &key);
	struct stat st;

	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void test_what_was_added_is_found(void **state)
{
	_cleanup_(open_files_freep) struct open_files *files = NULL;
	struct open_file_key by_inode = { .major = 8, .minor = 1, .inode = 77 };

	assert_int_equal(open_files_new(&files, 8), 0);
	add(files, by_build_id(1), 100);
	add(files, by_inode, 200);
	assert_int_equal(look(files, by_build_id(1)), 100);
	assert_int_equal(look(files, by_build_id(1)), 100); /* not taken out by it */
	assert_int_equal(look(files, by_inode), 200);
	assert_int_equal(look(files, by_build_id(2)), -ENOENT);
	by_inode.minor = 2;
	assert_int_equal(look(files, by_inode), -ENOENT);
}

static void test_the_one_seen_longest_ago_goes(void **state)
{
	_cleanup_(open_files_freep) struct open_files *files = NULL;

	assert_int_equal(open_files_new(&files, 3), 0);
	for (uint8_t i = 1; i <= 3; i++)
		add(files, by_build_id(i), i);
	add(files, by_build_id(1), 1);
	add(files, by_build_id(4), 4);
	assert_int_equal(look(files, by_build_id(2)), -ENOENT);
	assert_int_equal(look(files, by_build_id(1)), 1);
	assert_int_equal(look(files, by_build_id(3)), 3);
	assert_int_equal(look(files, by_build_id(4)), 4);
}

static void test_old_ones_are_closed(void **state)
{
	_cleanup_(open_files_freep) struct open_files *files = NULL;

	assert_int_equal(open_files_new(&files, 8), 0);
	add(files, by_build_id(1), 1);
	usleep(20000);
	open_files_drop(files, UINT64_MAX);
	assert_int_equal(look(files, by_build_id(1)), 1);
	open_files_drop(files, 10000);
	assert_int_equal(look(files, by_build_id(1)), -ENOENT);
	add(files, by_build_id(2), 2);
	open_files_drop(files, 0);
	assert_int_equal(look(files, by_build_id(2)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_added_is_found),
		cmocka_unit_test(test_the_one_seen_longest_ago_goes),
		cmocka_unit_test(test_old_ones_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
