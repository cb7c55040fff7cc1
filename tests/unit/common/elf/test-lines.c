/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source line and the inlined calls of every instruction, against addr2line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/symbol/tools.h"

#define MAX_FRAMES 64

static const char *dir;
static char **cases;
static int n_cases;

struct frame {
	char function[4096];
	char file[4096];
	unsigned int line;
};

static int open_lines(struct lines **ret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : lines_open(ret, fd);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The addresses of all instructions in .text, one a line. */
static void list_addresses(const char *path, const char *list)
{
	tools_run("objdump -d -j .text '%s' | sed -n 's/^ *\\([0-9a-f]*\\):\t.*/0x\\1/p' >'%s'",
		  path, list);
}

/* "file:12 (discriminator 3)" */
static void parse_position(char *text, struct frame *ret)
{
	char *colon = strrchr(text, ':');

	assert_non_null(colon);
	ret->line = (unsigned int)strtoul(colon + 1, NULL, 10);
	*colon = 0;
	snprintf(ret->file, sizeof(ret->file), "%s", base_name(text));
}

/* The frames that addr2line prints up to the next address, which stays in @line. */
static size_t read_frames(FILE *f, char *line, size_t size, struct frame *frames)
{
	size_t n = 0;

	while (fgets(line, (int)size, f) && strncmp(line, "0x", 2)) {
		assert_true(n < MAX_FRAMES);
		line[strcspn(line, "\n")] = 0;
		snprintf(frames[n].function, sizeof(frames[n].function), "%s", line);
		assert_non_null(fgets(line, (int)size, f));
		line[strcspn(line, "\n")] = 0;
		parse_position(line, &frames[n++]);
		line[0] = 0;
	}
	return n;
}

static bool alike(const char *full, const char *name)
{
	char head[64];

	snprintf(head, sizeof(head), "%.*s", name ? (int)strcspn(name, "<") : 0, name ?: "");
	return strstr(full, head);
}

static bool equal(const struct frame *expected, size_t n, const struct source_frame *got, int n_got)
{
	if ((int)n != n_got)
		return false;
	for (size_t i = 0; i < n; i++) {
		/* where DWARF has no full name for a function of its own it takes the symbol's */
		if (!alike(expected[i].function, got[i].function) ||
		    (i + 1 < n && strcmp(expected[i].function, got[i].function)) ||
		    strcmp(expected[i].file, got[i].file ? base_name(got[i].file) : "??") ||
		    expected[i].line != got[i].line)
			return false;
	}
	return true;
}

static void show(const char *path, uint64_t address, const struct frame *expected, size_t n,
		 const struct source_frame *got, int n_got)
{
	fprintf(stderr, "%s at %#lx, expected:\n", path, address);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "\t%s %s:%u\n", expected[i].function, expected[i].file,
			expected[i].line);
	fprintf(stderr, "got:\n");
	for (int i = 0; i < n_got; i++)
		fprintf(stderr, "\t%s %s:%u\n", got[i].function, got[i].file, got[i].line);
}

struct tally {
	size_t n, inlined, wrong;
};

static void check_file(const char *path, const char *list, struct tally *tally)
{
	static struct frame frames[MAX_FRAMES];
	_cleanup_(lines_freep) struct lines *lines = NULL;
	struct source_frame got[MAX_FRAMES];
	char line[4096];
	uint64_t address;
	FILE *f;

	assert_int_equal(open_lines(&lines, path), 0);
	list_addresses(path, list);
	f = tools_output("addr2line -aifC -e '%s' <'%s'", path, list);
	assert_non_null(fgets(line, sizeof(line), f));
	while (sscanf(line, "0x%lx", &address) == 1) {
		size_t n = read_frames(f, line, sizeof(line), frames);
		int n_got = lines_find(lines, address, NULL, got, MAX_FRAMES);

		/* where there is no debug information it falls back upon symbols */
		if (!n || (n == 1 && !frames[0].line))
			continue;
		tally->n++;
		tally->inlined += n > 1;
		if (equal(frames, n, got, n_got))
			continue;
		if (tally->wrong++ < 20)
			show(path, address, frames, n, got, n_got);
	}
	fclose(f);
}

static void test_every_instruction_as_addr2line_has_it(void **state)
{
	char list[] = "/tmp/branchd-test-XXXXXX";
	struct tally tally = { 0 };

	close(mkstemp(list));
	for (int i = 0; i < n_cases; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]);
		check_file(path, list, &tally);
	}
	unlink(list);
	fprintf(stderr, "%zu instructions, %zu of them inlined\n", tally.n, tally.inlined);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.inlined > 100);
}

static void test_a_file_without_debug_information(void **state)
{
	char path[] = "/tmp/branchd-test-XXXXXX";
	struct lines *lines;

	close(mkstemp(path));
	tools_run("strip -o '%s' '%s/library.so'", path, dir);
	assert_int_equal(open_lines(&lines, path), -ENODATA);
	unlink(path);
	assert_int_equal(open_lines(&lines, path), -ENOENT);
	assert_int_equal(lines_open(&lines, -1), -ENODATA);
}

static void test_no_more_frames_than_asked_for(void **state)
{
	_cleanup_(lines_freep) struct lines *lines = NULL;
	struct tools_symbol *symbols;
	struct source_frame frames[2] = { 0 };
	char path[4096];
	size_t n, at = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, cases[0]);
	n = tools_symbols(path, false, &symbols);
	while (at < n && strcmp(symbols[at].name, "local_function"))
		at++;
	assert_true(at < n);
	assert_int_equal(open_lines(&lines, path), 0);
	for (uint64_t i = 0; i < symbols[at].size; i++)
		assert_true(lines_find(lines, symbols[at].address + i, NULL, frames, 1) <= 1);
	assert_null(frames[1].file);
	assert_int_equal(lines_find(lines, symbols[at].address, NULL, frames, 0), 0);
	assert_int_equal(lines_find(lines, 1, NULL, frames, 2), 0);
	assert_int_equal(lines_find(lines, UINT64_MAX, NULL, frames, 2), 0);
	free(symbols);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_instruction_as_addr2line_has_it),
		cmocka_unit_test(test_a_file_without_debug_information),
		cmocka_unit_test(test_no_more_frames_than_asked_for),
	};

	if (argc < 3 || !tools_have("addr2line") || !tools_have("objdump")) {
		fprintf(stderr, "needs the directory of test programs, and binutils\n");
		return 77;
	}
	dir = argv[1];
	cases = argv + 2;
	n_cases = argc - 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
