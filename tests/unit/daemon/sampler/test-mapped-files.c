/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <poll.h>
#include <unistd.h>

#include "daemon/sampler/mapped-files.h"

static void put(struct mapped_files *files, int32_t pid, uint64_t inode)
{
	const struct mapping_event mapping = {
		.address = 4096,
		.n_bytes = 8192,
		.path = "/bin/x",
		.inode = inode,
		.generation = 7,
		.executable = true,
	};

	mapped_files_put(files, pid, &mapping);
}

static size_t take_all(struct mapped_files *files)
{
	struct mapped_file *file;
	size_t n;

	for (n = 0; (file = mapped_files_take(files)); n++)
		free(file);
	return n;
}

static bool is_readable(const struct mapped_files *files)
{
	struct pollfd fd = { .fd = mapped_files_fd(files), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void test_what_was_put_is_taken(void **state)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = NULL;
	struct mapped_file *file;

	assert_int_equal(mapped_files_new(&files), 0);
	assert_false(is_readable(files));
	put(files, 5, 1);
	put(files, 6, 1); /* the same file, a moment later */
	assert_false(is_readable(files));
	mapped_files_tell(files);
	assert_true(is_readable(files));
	file = mapped_files_take(files);
	assert_non_null(file);
	assert_int_equal(file->pid, 5);
	assert_int_equal(file->inode, 1);
	assert_int_equal(file->generation, 7);
	assert_int_equal(file->start, 4096);
	assert_int_equal(file->end, 12288);
	assert_string_equal(file->path, "/bin/x");
	free(file);
	assert_int_equal(take_all(files), 0);
	assert_false(is_readable(files));
	mapped_files_tell(files);
	assert_false(is_readable(files));
	for (uint64_t i = 2; i < 40; i++) /* many tell of themselves */
		put(files, 5, i);
	assert_true(is_readable(files));
	assert_int_equal(take_all(files), 38);
	assert_int_equal(mapped_files_dropped(files), 0);
}

static void test_known_files_wake_nobody_at_once(void **state)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = NULL;

	assert_int_equal(mapped_files_new(&files), 0);
	put(files, 5, 1);
	mapped_files_tell(files);
	assert_true(is_readable(files));
	assert_int_equal(take_all(files), 1);
	usleep(150000); /* or longer: now it is put again */
	put(files, 6, 1);
	mapped_files_tell(files);
	mapped_files_tell(files);
	assert_false(is_readable(files));
	mapped_files_tell(files);
	assert_true(is_readable(files));
	assert_int_equal(take_all(files), 1);
	usleep(150000);
	put(files, 7, 1);
	put(files, 7, 2); /* this one is new */
	mapped_files_tell(files);
	assert_true(is_readable(files));
	assert_int_equal(take_all(files), 2);
}

/* Four files may have the same place. */
static void test_new_files_are_counted(void **state)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = NULL;

	assert_int_equal(mapped_files_new(&files), 0);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 4; i++)
			put(files, 5, 7 + 1024 * i);
		assert_int_equal(mapped_files_count_new(files), 4);
		usleep(150000); /* or longer: now they are put again */
	}
	put(files, 5, 7 + 1024 * 4); /* in the place of the first */
	put(files, 5, 7);
	assert_int_equal(mapped_files_count_new(files), 6);
}

static void test_one_is_taken_before_its_turn(void **state)
{
	static const uint64_t order[] = { 4, 1, 2, 3, 5 };
	struct mapped_files *files = NULL;
	struct mapped_file *file, *other;

	assert_int_equal(mapped_files_new(&files), 0);
	put(files, 5, 9);
	file = mapped_files_take(files); /* the queue begins in the middle of the ring */
	for (uint64_t i = 1; i <= 5; i++)
		put(files, 5, i);
	for (size_t i = 0; i < 5; i++) {
		other = i ? mapped_files_take(files) :
			    mapped_files_take_file(files, file->major, file->minor, order[i],
						   file->generation);
		assert_non_null(other);
		assert_int_equal(other->inode, order[i]);
		free(other);
		assert_null(mapped_files_take_file(files, file->major, file->minor, order[i],
						   file->generation));
	}
	assert_int_equal(take_all(files), 0);
	free(file);
	mapped_files_free(files);
}

static void test_a_process_gets_its_share(void **state)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = NULL;

	assert_int_equal(mapped_files_new(&files), 0);
	for (uint64_t i = 1; i <= 60000; i++)
		put(files, 5, i);
	assert_int_equal(mapped_files_dropped(files), 60000 - MAPPED_FILES_PER_PROCESS);
	put(files, 6, 1000001);
	assert_int_equal(take_all(files), MAPPED_FILES_PER_PROCESS + 1);
	put(files, 5, 1000002);
	assert_int_equal(take_all(files), 1);
}

static void test_there_is_an_end_to_it(void **state)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = NULL;

	assert_int_equal(mapped_files_new(&files), 0);
	for (uint64_t i = 1; i <= 2 * MAPPED_FILES_MAX; i++)
		put(files, (int32_t)i, i);
	assert_int_equal(mapped_files_dropped(files), MAPPED_FILES_MAX);
	assert_int_equal(take_all(files), MAPPED_FILES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_put_is_taken),
		cmocka_unit_test(test_known_files_wake_nobody_at_once),
		cmocka_unit_test(test_new_files_are_counted),
		cmocka_unit_test(test_one_is_taken_before_its_turn),
		cmocka_unit_test(test_a_process_gets_its_share),
		cmocka_unit_test(test_there_is_an_end_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
