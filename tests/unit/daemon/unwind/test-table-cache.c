/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "daemon/kept/kept-name.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/unwind/table-file.h"

struct scene {
	char place[64], directory[80];
	struct kept_files *cache;
};

static const struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
static const uint32_t starts[] = { 0x1000, 0x2000 };
static const uint16_t rule_ids[] = { 0, 0 };
static const struct unwind_table table = { .machine = EM_X86_64,
					   .starts = starts,
					   .rule_ids = rule_ids,
					   .n_rows = ARRAY_SIZE(starts),
					   .rules = &rule,
					   .n_rules = 1 };

static void open_cache(struct scene *s, size_t max_files)
{
	const struct kept_files_settings settings = { .directory = s->directory,
						      .max_files = max_files };

	s->cache = kept_files_free(s->cache);
	assert_int_equal(table_cache_open(&s->cache, &settings), 0);
}

static void scene_init(struct scene *s, size_t max_files)
{
	*s = (struct scene){ .place = "/tmp/test-table-cache-XXXXXX" };
	assert_non_null(mkdtemp(s->place));
	snprintf(s->directory, sizeof(s->directory), "%s/tables", s->place);
	open_cache(s, max_files);
}

static void scene_done(struct scene *s)
{
	char command[160];

	kept_files_free(s->cache);
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

static void put(struct scene *s, uint8_t n)
{
	const struct build_id id = make_id(n);
	const struct file_identity file = make_file(n);

	table_cache_put(s->cache, &id, &file, &table);
}

static bool find(struct scene *s, const struct build_id *id, const struct file_identity *file)
{
	struct unwind_table read;
	int r = table_cache_get(s->cache, id, file, &read);

	if (r == 0)
		return false;
	assert_int_equal(r, 1);
	assert_int_equal(read.n_rows, ARRAY_SIZE(starts));
	assert_memory_equal(read.starts, starts, sizeof(starts));
	unwind_table_done(&read);
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
	char text[KEPT_NAME_BYTES];

	kept_name_format(text, &name, "unwind");
	snprintf(ret, 256, "%s/%s", s->directory, text);
}

/* Makes the table older than others. */
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

	kept_files_get_counts(s->cache, &counts);
	return counts;
}

static void test_a_table_is_there_after_a_restart(void **state)
{
	struct kept_files_counts counts;
	struct scene s;

	scene_init(&s, 0);
	assert_false(has(&s, 1));
	put(&s, 1);
	assert_true(has(&s, 1));
	open_cache(&s, 0);
	assert_true(has(&s, 1));
	assert_false(has(&s, 2));
	counts = counts_of(&s);
	assert_int_equal(counts.found, 1);
	assert_int_equal(counts.built, 0);
	assert_int_equal(counts.files, 1);
	assert_int_equal(counts.bytes, table_file_bytes(&table));
	scene_done(&s);
}

static void test_a_table_is_found_by_its_file_or_the_build_id(void **state)
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
static void test_a_build_id_has_one_table(void **state)
{
	const struct file_identity one = make_file(1), two = make_file(2);
	const struct build_id id = make_id(1), next = make_id(2);
	struct scene s;

	scene_init(&s, 0);
	table_cache_put(s.cache, &id, &one, &table);
	table_cache_put(s.cache, &id, &two, &table);
	assert_int_equal(counts_of(&s).files, 1);
	assert_true(find(&s, NULL, &two));
	assert_true(find(&s, &id, &one));
	assert_false(find(&s, NULL, &one));
	table_cache_put(s.cache, &next, &two, &table); /* the file has another one now */
	assert_int_equal(counts_of(&s).files, 1);
	assert_false(find(&s, &id, &one));
	open_cache(&s, 0);
	assert_true(find(&s, &next, &one));
	assert_int_equal(counts_of(&s).bytes, table_file_bytes(&table));
	scene_done(&s);
}

static void test_a_damaged_table_is_removed_and_counted(void **state)
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
	assert_int_equal(pwrite(fd, "x", 1, 80), 1);
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

static void test_the_table_used_least_recently_goes_first(void **state)
{
	struct scene s;

	scene_init(&s, 3);
	for (uint8_t i = 1; i <= 3; i++) {
		put(&s, i);
		age(&s, i, 1000 + i);
	}
	open_cache(&s, 3);
	assert_true(has(&s, 1)); /* now used last */
	put(&s, 4);
	assert_false(has(&s, 2));
	assert_true(has(&s, 1));
	assert_true(has(&s, 3));
	open_cache(&s, 1); /* a lower limit holds at once */
	assert_int_equal(counts_of(&s).files, 1);
	scene_done(&s);
}

static void test_bytes_have_a_limit(void **state)
{
	struct kept_files_settings settings = { .max_bytes = 2 * table_file_bytes(&table) };
	struct scene s;

	scene_init(&s, 0);
	s.cache = kept_files_free(s.cache);
	settings.directory = s.directory;
	assert_int_equal(table_cache_open(&s.cache, &settings), 0);
	for (uint8_t i = 1; i <= 9; i++)
		put(&s, i);
	assert_int_equal(counts_of(&s).files, 2);
	assert_int_equal(counts_of(&s).bytes, settings.max_bytes);
	assert_true(has(&s, 9));
	s.cache = kept_files_free(s.cache);
	settings.max_bytes = 10;
	assert_int_equal(table_cache_open(&s.cache, &settings), 0);
	put(&s, 1);
	assert_int_equal(counts_of(&s).not_written, 1);
	assert_int_equal(counts_of(&s).files, 0);
	scene_done(&s);
}

static void test_other_files_are_left_alone(void **state)
{
	char other[128], similar[160], half[128], link[256];
	struct scene s;

	scene_init(&s, 0);
	snprintf(other, sizeof(other), "%s/notes.unwind", s.directory);
	snprintf(half, sizeof(half), "%s/new.part", s.directory);
	close(open(other, O_CREAT | O_WRONLY, 0600));
	snprintf(similar, sizeof(similar), "%s/abcd-1-2-3-4-05.unwind", s.directory);
	close(open(similar, O_CREAT | O_WRONLY, 0600));
	close(open(half, O_CREAT | O_WRONLY, 0600));
	path_of(&s, 1, link);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	open_cache(&s, 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(similar, F_OK), 0);
	assert_int_equal(counts_of(&s).files, 1); /* the link */
	assert_int_equal(access(half, F_OK), -1); /* left by a daemon that was killed */
	assert_false(has(&s, 1));
	scene_done(&s);
}

static void test_a_directory_that_others_write_to_is_refused(void **state)
{
	struct kept_files_settings settings = {};
	struct kept_files *cache;
	struct scene s;

	scene_init(&s, 0);
	settings.directory = s.directory;
	assert_int_equal(chmod(s.directory, 0777), 0);
	assert_int_equal(table_cache_open(&cache, &settings), -EPERM);
	settings.directory = "/nowhere/tables";
	assert_int_equal(table_cache_open(&cache, &settings), -ENOENT);
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
		cmocka_unit_test(test_a_table_is_there_after_a_restart),
		cmocka_unit_test(test_a_table_is_found_by_its_file_or_the_build_id),
		cmocka_unit_test(test_a_build_id_has_one_table),
		cmocka_unit_test(test_a_damaged_table_is_removed_and_counted),
		cmocka_unit_test(test_the_table_used_least_recently_goes_first),
		cmocka_unit_test(test_bytes_have_a_limit),
		cmocka_unit_test(test_other_files_are_left_alone),
		cmocka_unit_test(test_a_directory_that_others_write_to_is_refused),
		cmocka_unit_test(test_without_its_directory_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
