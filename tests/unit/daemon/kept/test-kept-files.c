/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/kept/kept-files.h"
#include "daemon/kept/kept-name.h"

struct scene {
	char place[64], directory[80];
	struct kept_files *kept;
};

static const char text[] = "what was made of it";

static void open_kept(struct scene *s, size_t max_files)
{
	const struct kept_files_settings settings = {
		.directory = s->directory,
		.suffix = "kind",
		.max_file_bytes = sizeof(text),
		.max_files = max_files,
	};

	s->kept = kept_files_free(s->kept);
	assert_int_equal(kept_files_open(&s->kept, &settings), 0);
}

static void scene_init(struct scene *s, size_t max_files)
{
	*s = (struct scene){ .place = "/tmp/test-kept-files-XXXXXX" };
	assert_non_null(mkdtemp(s->place));
	snprintf(s->directory, sizeof(s->directory), "%s/kept", s->place);
	open_kept(s, max_files);
}

static void scene_done(struct scene *s)
{
	char command[160];

	kept_files_free(s->kept);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->place);
	assert_int_equal(system(command), 0);
}

static struct build_id make_id(uint8_t n)
{
	return (struct build_id){ .bytes = { 0xfe, n }, .n = 20 };
}

static struct file_identity make_file(uint8_t n)
{
	return (struct file_identity){
		.major = 254, .inode = n, .ctime_ns = -n, .n_bytes = 1u << n, .trusted = true
	};
}

static int write_text(int fd, const struct build_id *id, const void *what)
{
	return write(fd, what, sizeof(text)) == sizeof(text) ? 0 : -ENOSPC;
}

static int read_text(const void *bytes, size_t n, const struct build_id *id, void *userdata)
{
	return n == sizeof(text) && memcmp(bytes, text, n) == 0 ? 0 : -EBADMSG;
}

static void put_as(struct scene *s, const struct build_id *id, const struct file_identity *file)
{
	const struct kept_content content = { sizeof(text), write_text, text };

	kept_files_put(s->kept, id, file, &content);
}

static void put(struct scene *s, uint8_t n)
{
	const struct build_id id = make_id(n);
	const struct file_identity file = make_file(n);

	put_as(s, &id, &file);
}

static bool find(struct scene *s, const struct build_id *id, const struct file_identity *file)
{
	int r = kept_files_get(s->kept, id, file, read_text, NULL);

	if (r == 0)
		return false;
	assert_int_equal(r, 1);
	return true;
}

static bool has(struct scene *s, uint8_t n)
{
	const struct file_identity file = make_file(n);

	return find(s, NULL, &file);
}

static void path_of(const struct scene *s, uint8_t n, char ret[static 256])
{
	const struct kept_name name = { .id = make_id(n), .file = make_file(n) };
	char file[KEPT_NAME_BYTES];

	kept_name_format(file, &name, "kind");
	snprintf(ret, 256, "%s/%s", s->directory, file);
}

/* Makes the file older than others. */
static void age(const struct scene *s, uint8_t n, time_t seconds)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = seconds } };
	char path[256];

	path_of(s, n, path);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct kept_files_counts counts_of(const struct scene *s)
{
	struct kept_files_counts counts;

	kept_files_get_counts(s->kept, &counts);
	return counts;
}

static void test_a_file_is_there_after_a_restart(void **state)
{
	struct kept_files_counts counts;
	struct scene s;

	scene_init(&s, 0);
	assert_false(has(&s, 1));
	put(&s, 1);
	assert_true(has(&s, 1));
	open_kept(&s, 0);
	assert_true(has(&s, 1));
	assert_false(has(&s, 2));
	counts = counts_of(&s);
	assert_int_equal(counts.found, 1);
	assert_int_equal(counts.built, 0);
	assert_int_equal(counts.files, 1);
	assert_int_equal(counts.bytes, sizeof(text));
	scene_done(&s);
}

static void test_it_is_found_by_the_object_or_the_build_id(void **state)
{
	struct file_identity other = make_file(1);
	struct build_id id = make_id(1);
	struct scene s;

	scene_init(&s, 0);
	put(&s, 1);
	assert_true(find(&s, NULL, &other));
	other.ctime_ns++;
	assert_false(find(&s, NULL, &other));
	assert_true(find(&s, &id, &other));
	id.n = 19;
	assert_false(find(&s, &id, &other));
	id.n = 20;
	id.bytes[19] = 1;
	assert_false(find(&s, &id, &other));
	scene_done(&s);
}

/* The same library in two containers, or after an upgrade that changed something else in it. */
static void test_a_build_id_has_one_file(void **state)
{
	const struct file_identity one = make_file(1), two = make_file(2);
	const struct build_id id = make_id(1), next = make_id(2);
	struct scene s;

	scene_init(&s, 0);
	put_as(&s, &id, &one);
	put_as(&s, &id, &two);
	assert_int_equal(counts_of(&s).files, 1);
	assert_true(find(&s, NULL, &two));
	assert_true(find(&s, &id, &one));
	assert_false(find(&s, NULL, &one));
	put_as(&s, &next, &two); /* the file has another one now */
	assert_int_equal(counts_of(&s).files, 1);
	assert_false(find(&s, &id, &one));
	open_kept(&s, 0);
	assert_true(find(&s, &next, &one));
	assert_int_equal(counts_of(&s).bytes, sizeof(text));
	scene_done(&s);
}

static void test_a_damaged_file_is_removed_and_counted(void **state)
{
	char path[256];
	struct scene s;
	int fd;

	scene_init(&s, 0);
	put(&s, 1);
	put(&s, 2);
	path_of(&s, 1, path);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 3), 1);
	close(fd);
	assert_false(has(&s, 1));
	assert_int_equal(access(path, F_OK), -1);
	path_of(&s, 2, path);
	assert_int_equal(truncate(path, 0), 0);
	assert_false(has(&s, 2));
	assert_int_equal(counts_of(&s).damaged, 2);
	assert_int_equal(counts_of(&s).files, 0);
	assert_int_equal(counts_of(&s).bytes, 0);
	put(&s, 1);
	assert_true(has(&s, 1));
	scene_done(&s);
}

static void test_the_file_used_least_recently_goes_first(void **state)
{
	struct scene s;

	scene_init(&s, 3);
	for (uint8_t i = 1; i <= 3; i++) {
		put(&s, i);
		age(&s, i, 1000 + i);
	}
	open_kept(&s, 3);
	assert_true(has(&s, 1)); /* now used last */
	put(&s, 4);
	assert_false(has(&s, 2));
	assert_true(has(&s, 1));
	assert_true(has(&s, 3));
	open_kept(&s, 1); /* a lower limit holds at once */
	assert_int_equal(counts_of(&s).files, 1);
	scene_done(&s);
}

static void test_bytes_have_a_limit(void **state)
{
	struct kept_files_settings settings = { .suffix = "kind",
						.max_file_bytes = sizeof(text),
						.max_bytes = 2 * sizeof(text) };
	struct scene s;

	scene_init(&s, 0);
	s.kept = kept_files_free(s.kept);
	settings.directory = s.directory;
	assert_int_equal(kept_files_open(&s.kept, &settings), 0);
	for (uint8_t i = 1; i <= 9; i++)
		put(&s, i);
	assert_int_equal(counts_of(&s).files, 2);
	assert_int_equal(counts_of(&s).bytes, settings.max_bytes);
	assert_true(has(&s, 9));
	s.kept = kept_files_free(s.kept);
	settings.max_bytes = 10;
	assert_int_equal(kept_files_open(&s.kept, &settings), 0);
	put(&s, 1);
	assert_int_equal(counts_of(&s).not_written, 1);
	assert_int_equal(counts_of(&s).files, 0);
	scene_done(&s);
}

/* It would be damaged when it is read, and takes no room from others. */
static void test_a_file_that_is_too_large_is_not_written(void **state)
{
	struct kept_files_settings settings = { .suffix = "kind",
						.max_file_bytes = sizeof(text) - 1,
						.max_bytes = sizeof(text) };
	struct scene s;

	scene_init(&s, 0);
	put(&s, 1);
	s.kept = kept_files_free(s.kept);
	settings.directory = s.directory;
	assert_int_equal(kept_files_open(&s.kept, &settings), 0);
	put(&s, 2);
	assert_int_equal(counts_of(&s).not_written, 1);
	assert_int_equal(counts_of(&s).files, 1);
	scene_done(&s);
}

static void test_other_files_are_left_alone(void **state)
{
	char other[128], similar[160], half[128], of_others[128], link[256];
	struct scene s;

	scene_init(&s, 0);
	snprintf(other, sizeof(other), "%s/notes.kind", s.directory);
	snprintf(half, sizeof(half), "%s/kind.part", s.directory);
	close(open(other, O_CREAT | O_WRONLY, 0600));
	snprintf(similar, sizeof(similar), "%s/abcd-1-2-3-4-05.kind", s.directory);
	close(open(similar, O_CREAT | O_WRONLY, 0600));
	close(open(half, O_CREAT | O_WRONLY, 0600));
	snprintf(of_others, sizeof(of_others), "%s/other.part", s.directory);
	close(open(of_others, O_CREAT | O_WRONLY, 0600));
	path_of(&s, 1, link);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	open_kept(&s, 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(similar, F_OK), 0);
	assert_int_equal(access(of_others, F_OK), 0); /* another kind in the same directory */
	assert_int_equal(counts_of(&s).files, 1);     /* the link */
	assert_int_equal(access(half, F_OK), -1);     /* left by a daemon that was killed */
	assert_false(has(&s, 1));
	scene_done(&s);
}

static void test_a_directory_that_others_write_to_is_refused(void **state)
{
	struct kept_files_settings settings = { .suffix = "kind" };
	struct kept_files *kept;
	struct scene s;

	scene_init(&s, 0);
	settings.directory = s.directory;
	assert_int_equal(chmod(s.directory, 0777), 0);
	assert_int_equal(kept_files_open(&kept, &settings), -EPERM);
	settings.directory = "/nowhere/kept";
	assert_int_equal(kept_files_open(&kept, &settings), -ENOENT);
	scene_done(&s);
}

static void test_without_its_directory_nothing_is_kept(void **state)
{
	char command[128];
	struct scene s;

	scene_init(&s, 0);
	snprintf(command, sizeof(command), "rm -r '%s'", s.directory);
	assert_int_equal(system(command), 0);
	put(&s, 1);
	assert_int_equal(counts_of(&s).not_written, 1);
	assert_false(has(&s, 1));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_there_after_a_restart),
		cmocka_unit_test(test_it_is_found_by_the_object_or_the_build_id),
		cmocka_unit_test(test_a_build_id_has_one_file),
		cmocka_unit_test(test_a_damaged_file_is_removed_and_counted),
		cmocka_unit_test(test_the_file_used_least_recently_goes_first),
		cmocka_unit_test(test_bytes_have_a_limit),
		cmocka_unit_test(test_a_file_that_is_too_large_is_not_written),
		cmocka_unit_test(test_other_files_are_left_alone),
		cmocka_unit_test(test_a_directory_that_others_write_to_is_refused),
		cmocka_unit_test(test_without_its_directory_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
