/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library of more functions than are read at once: its unwind table is the same whether entries
 * are searched for, in either order of the sections, or read one after the other; and each of its
 * stubs has a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "common/elf/file.h"
#include "common/elf/symbols.h"
#include "common/elf/unwind-rows.h"
#include "common/util/macro.h"

#define N 2000 /* functions; each calls the one before it */

static char place[] = "/tmp/test-many-functions-XXXXXX";

static void run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	char path[64];
	FILE *f;

	if (!mkdtemp(place))
		return -1;
	snprintf(path, sizeof(path), "%s/functions.c", place);
	f = fopen(path, "we");
	if (!f)
		return -1;
	fputs("int f0(int x) { return x; }\n", f);
	for (int i = 1; i < N; i++)
		fprintf(f, "int f%d(int x) { return f%d(x) + %d; }\n", i, i - 1, i);
	return fclose(f);
}

static int end(void **state)
{
	run("rm -rf %s", place);
	return 0;
}

static void make_library(const char *linker)
{
	run("cd %s && ${CC:-cc} -shared -fPIC -O1 -fuse-ld=%s -o %s.so functions.c", place, linker,
	    linker);
	run("cd %s && objcopy --rename-section .eh_frame_hdr=.other %s.so %s-linear.so", place,
	    linker, linker);
}

static int open_library(const char *linker, const char *suffix)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s%s.so", place, linker, suffix);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* *@ret_first: whether the header of the entries comes before them. */
static void read_table(const char *linker, const char *suffix, struct unwind_table *ret,
		       bool *ret_first)
{
	struct elf_image *image;
	size_t header;

	assert_int_equal(elf_image_open(&image, open_library(linker, suffix)), 0);
	header = elf_image_find_name(image, ".eh_frame_hdr");
	*ret_first = header > 0 && header < elf_image_find_name(image, ".eh_frame");
	assert_int_equal(header > 0, !*suffix);
	assert_int_equal(unwind_rows_read(image, &image->loads, ret), 0);
	elf_image_free(image);
}

static bool check_table(const char *linker)
{
	struct unwind_table searched, linear;
	bool first, none;

	make_library(linker);
	read_table(linker, "", &searched, &first);
	read_table(linker, "-linear", &linear, &none);
	assert_true(searched.n_rows > 2 * N);
	assert_int_equal(searched.n_rows, linear.n_rows);
	assert_int_equal(searched.n_rules, linear.n_rules);
	assert_int_equal(searched.n_bytes, linear.n_bytes);
	assert_memory_equal(searched.bytes, linear.bytes, linear.n_bytes);
	assert_memory_equal(searched.rules, linear.rules, linear.n_rules * sizeof(*linear.rules));
	unwind_table_done(&searched);
	unwind_table_done(&linear);
	return first;
}

static void test_the_table_is_the_same_in_any_order(void **state)
{
	assert_true(check_table("bfd"));
	assert_false(check_table("gold"));
}

static void test_each_stub_has_a_name(void **state)
{
	static bool found[N];
	struct elf_file *file;
	size_t n = 0;

	make_library("bfd");
	assert_int_equal(elf_file_open(&file, open_library("bfd", "")), 0);
	assert_int_equal(elf_symbols_read(file, NULL, NULL), 0);
	for (size_t i = 0; i < symbol_table_count(file->symbols); i++) {
		struct symbol_entry symbol = symbol_table_get(file->symbols, i);
		int number;

		if (!symbol.stub || sscanf(symbol.name, "f%d", &number) != 1)
			continue;
		assert_in_range(number, 0, N - 1);
		n += !found[number];
		found[number] = true;
	}
	assert_int_equal(n, N - 1); /* nobody calls the last one */
	elf_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_is_the_same_in_any_order),
		cmocka_unit_test(test_each_stub_has_a_name),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
