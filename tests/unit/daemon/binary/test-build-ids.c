/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is opened for a build-id: paths are other people's word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/binary/build-ids.h"
#include "daemon/binary/process-file.h"

/* As the kernel tells of a mapping of @path; nothing is mapped at its address. */
static struct mapping_event mapping_of(const char *path)
{
	struct mapping_event m = { .address = 4096, .n_bytes = 4096, .path = path };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	m.inode = st.st_ino;
	m.executable = true;
	return m;
}

static struct mapping_event fill(const char *path)
{
	_cleanup_(build_ids_freep) struct build_ids *ids = NULL;
	struct mapping_event m = mapping_of(path);

	assert_int_equal(build_ids_new(&ids), 0);
	assert_int_equal(build_ids_fill(ids, getpid(), &m), 0);
	return m;
}

static void own_path(char ret[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);

	assert_true(n > 0);
	ret[n] = '\0';
}

static void test_a_program(void **state)
{
	char path[PATH_MAX];
	struct mapping_event m;

	own_path(path);
	m = fill(path);
	assert_true(m.n_build_id > 0);
	assert_int_equal(m.inode, 0);
}

static void test_another_file_by_that_name(void **state)
{
	_cleanup_(build_ids_freep) struct build_ids *ids = NULL;
	char path[PATH_MAX];
	struct mapping_event m;

	own_path(path);
	m = mapping_of(path);
	m.inode++;
	assert_int_equal(build_ids_new(&ids), 0);
	assert_int_equal(build_ids_fill(ids, getpid(), &m), 0);
	assert_int_equal(m.n_build_id, 0);
}

/* To open one may set something going: a writer that waits for a reader, a device. */
static void test_what_is_no_file_is_not_opened(void **state)
{
	char folder[] = "/tmp/file-ids-XXXXXX", path[64], event[4096];
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ssize_t n;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(fill(path).n_build_id, 0);
	assert_true(process_file_open(getpid(), path) < 0);
	n = read(watch, event, sizeof(event));
	unlink(path);
	rmdir(folder);
	assert_true(n < 0);
}

/* The name of a mapping in /proc/PID/maps. */
static void assert_decoded(const char *name, const char *expected)
{
	char path[64];

	snprintf(path, sizeof(path), "%s", name);
	process_file_decode(path);
	assert_string_equal(path, expected);
}

static void test_newlines_in_names(void **state)
{
	assert_decoded("/usr/bin/cat", "/usr/bin/cat");
	assert_decoded("", "");
	assert_decoded("/a\\012b", "/a\nb");
	assert_decoded("\\012\\012/a\\012", "\n\n/a\n");
	assert_decoded("/a\\01\\0\\134", "/a\\01\\0\\134");
}

/* A file that is mapped with a newline in its name, and has lost it. */
static void test_a_deleted_file_with_a_newline(void **state)
{
	char folder[] = "/tmp/file-ids-XXXXXX", path[64], deleted[96];
	struct stat st, found = { 0 };
	void *mapped;
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a\nb", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &st) == 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	assert_int_equal(unlink(path), 0);
	rmdir(folder);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	fd = process_file_open(getpid(), deleted);
	munmap(mapped, 4096);
	if (fd == -EPERM)
		return; /* it was found, but not everybody may open it */
	assert_true(fd >= 0 && fstat(fd, &found) == 0);
	close(fd);
	assert_true(found.st_ino == st.st_ino);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program),
		cmocka_unit_test(test_another_file_by_that_name),
		cmocka_unit_test(test_what_is_no_file_is_not_opened),
		cmocka_unit_test(test_newlines_in_names),
		cmocka_unit_test(test_a_deleted_file_with_a_newline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
