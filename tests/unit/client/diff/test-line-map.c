/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/line-map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/random.h"

struct trees {
	char folder[64], before[80], after[80];
	struct line_map *map;
	struct fault fault;
};

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup(void **state)
{
	struct trees *trees = calloc(1, sizeof(*trees));

	assert_non_null(trees);
	strcpy(trees->folder, "/tmp/test-line-map-XXXXXX");
	assert_non_null(mkdtemp(trees->folder));
	snprintf(trees->before, sizeof(trees->before), "%s/before", trees->folder);
	snprintf(trees->after, sizeof(trees->after), "%s/after", trees->folder);
	make_folder(trees->before);
	make_folder(trees->after);
	assert_int_equal(line_map_new(&trees->map, trees->before, trees->after, &trees->fault), 0);
	*state = trees;
	return 0;
}

static int teardown(void **state)
{
	struct trees *trees = *state;
	char command[100];

	line_map_free(trees->map);
	snprintf(command, sizeof(command), "rm -rf '%s'", trees->folder);
	assert_int_equal(system(command), 0);
	free(trees);
	return 0;
}

/* Each letter of @text is a line. */
static void write_file(const char *folder, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	for (; *text; text++)
		fprintf(f, "%c\n", *text);
	assert_int_equal(fclose(f), 0);
}

/* The number of the line on the other side; 0 if it has none; or a negative errno. */
static int find(struct trees *trees, enum side side, const char *file, uint32_t line)
{
	struct source_line other = {};
	int r = line_map_find(trees->map, side, (struct source_line){ file, line }, &other,
			      &trees->fault);

	return r > 0 ? (int)other.number : r;
}

static int forward(struct trees *trees, const char *file, uint32_t line)
{
	return find(trees, SIDE_OLD, file, line);
}

static int backward(struct trees *trees, const char *file, uint32_t line)
{
	return find(trees, SIDE_NEW, file, line);
}

static void test_lines_that_moved_and_lines_that_changed(void **state)
{
	struct trees *trees = *state;
	const int to[] = { 3, 4, 0, 6, 0, 0, 7 }, from[] = { 0, 0, 1, 2, 0, 4, 7, 0 };

	write_file(trees->before, "a.c", "abcdefg");
	write_file(trees->after, "a.c", "12abCdgh");
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(forward(trees, "a.c", i + 1), to[i]);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(backward(trees, "a.c", i + 1), from[i]);
}

/* Lines of unique contents, in random files. */
static void test_any_two_files(void **state)
{
	struct trees *trees = *state;
	char before[100], after[150], name[20];
	uint64_t random = 3;

	for (int file = 0; file < 50; file++) {
		size_t n = 0, m = 0;

		for (char c = '!'; c <= 'z'; c++) {
			before[n++] = c;
			if (random_below(&random, 8) == 0)
				after[m++] = '~';
			if (random_below(&random, 6) > 0)
				after[m++] = c;
		}
		before[n] = after[m] = '\0';
		snprintf(name, sizeof(name), "%d.c", file);
		write_file(trees->before, name, before);
		write_file(trees->after, name, after);
		for (uint32_t i = 0; i < n; i++) {
			const char *there = strchr(after, before[i]);
			int line = there ? (int)(there - after) + 1 : 0;

			assert_int_equal(forward(trees, name, i + 1), line);
			if (line > 0)
				assert_int_equal(backward(trees, name, (uint32_t)line), i + 1);
		}
	}
}

static void test_a_file_is_found_by_the_end_of_its_path(void **state)
{
	struct trees *trees = *state;
	char path[100];

	snprintf(path, sizeof(path), "%s/src", trees->before);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/src", trees->after);
	make_folder(path);
	write_file(trees->before, "src/a.c", "abc");
	write_file(trees->after, "src/a.c", "xabc");
	write_file(trees->before, "a.c", "abc");
	write_file(trees->after, "a.c", "abc");
	assert_int_equal(forward(trees, "/build/demo-1.2/src/a.c", 1), 2);
	assert_int_equal(forward(trees, "../src/./src/a.c", 1), 2);
	assert_int_equal(forward(trees, "a.c", 1), 1);
	assert_int_equal(forward(trees, "./a.c", 1), 1);
	assert_int_equal(forward(trees, "/elsewhere/a.c", 1), 1);
	assert_int_equal(forward(trees, "/elsewhere/b.c", 1), -ENOENT);
	assert_int_equal(forward(trees, "", 1), -ENOENT);
	assert_int_equal(forward(trees, "/", 1), -ENOENT);
}

static void test_a_file_of_one_side_only(void **state)
{
	struct trees *trees = *state;

	write_file(trees->before, "gone.c", "abc");
	write_file(trees->after, "come.c", "abc");
	assert_int_equal(forward(trees, "gone.c", 1), 0);
	assert_int_equal(backward(trees, "come.c", 1), 0);
	assert_int_equal(forward(trees, "come.c", 1), -ENOENT);
}

static void test_no_folders(void **state)
{
	struct line_map *map;
	struct fault fault;

	assert_int_equal(line_map_new(&map, "/nonexistent", "/", &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "--before /nonexistent"));
	assert_int_equal(line_map_new(&map, "/", "/dev/null", &fault), -ENOTDIR);
	assert_non_null(strstr(fault.text, "--after /dev/null"));
}

static void test_without_diff(void **state)
{
	struct trees *trees = *state;
	char *path = strdup(getenv("PATH"));

	assert_non_null(path);
	write_file(trees->before, "a.c", "a");
	write_file(trees->after, "a.c", "b");
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(forward(trees, "a.c", 1), -EIO);
	assert_non_null(strstr(trees->fault.text, "diffutils"));
	setenv("PATH", path, 1);
	assert_int_equal(forward(trees, "a.c", 1), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_that_moved_and_lines_that_changed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_any_two_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_file_is_found_by_the_end_of_its_path, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_file_of_one_side_only, setup, teardown),
		cmocka_unit_test(test_no_folders),
		cmocka_unit_test_setup_teardown(test_without_diff, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
