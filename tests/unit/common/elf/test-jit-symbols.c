/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of perf-PID.map, as a JIT compiler writes them, and as somebody might on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/jit-symbols.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"

static struct symbol_table *read_bytes(const char *text, size_t n, uint64_t n_malformed)
{
	char *copy = malloc(n + 1);
	struct symbol_table *table;
	uint64_t malformed = UINT64_MAX;

	assert_non_null(copy);
	memcpy(copy, text, n);
	assert_int_equal(jit_symbols_read(&table, copy, n, &malformed), 0);
	assert_int_equal(malformed, n_malformed);
	return table;
}

static struct symbol_table *read_text(const char *text, uint64_t n_malformed)
{
	return read_bytes(text, strlen(text), n_malformed);
}

static const char *name_at(struct symbol_table *table, uint64_t address)
{
	size_t i = symbol_table_find(table, address);

	return i == SYMBOL_TABLE_NONE ? "-" : symbol_table_name(table, i);
}

static void test_lines_of_functions(void **state)
{
	struct symbol_table *t = read_text("7f0000001000 20 JS:*fib /tmp/x@1/fib.js:1:13\n"
					   "0x7f0000002000 0X10 Builtin:Add\n"
					   "00000000000000FF\t1 one\n",
					   0);

	assert_string_equal(name_at(t, 0x7f0000001000), "JS:*fib /tmp/x@1/fib.js:1:13");
	assert_string_equal(name_at(t, 0x7f000000101f), "JS:*fib /tmp/x@1/fib.js:1:13");
	assert_string_equal(name_at(t, 0x7f0000001020), "-");
	assert_string_equal(name_at(t, 0x7f0000000fff), "-");
	assert_string_equal(name_at(t, 0x7f000000200f), "Builtin:Add");
	assert_string_equal(name_at(t, 0xff), "one");
	assert_int_equal(symbol_table_count(t), 3);
	symbol_table_free(t);
}

static void test_later_lines_hold(void **state)
{
	struct symbol_table *t = read_text("1000 100 old\n"
					   "1040 20 inner\n"
					   "2000 10 hidden\n"
					   "1ff0 40 over\n"
					   "3000 100 first\n"
					   "3080 100 second\n"
					   "4000 10 a\n"
					   "4000 10 b\n"
					   "4000 20 c\n"
					   "4010 10 d\n",
					   0);

	assert_string_equal(name_at(t, 0x103f), "old");
	assert_string_equal(name_at(t, 0x1040), "inner");
	assert_string_equal(name_at(t, 0x1060), "old");
	assert_string_equal(name_at(t, 0x10ff), "old");
	assert_string_equal(name_at(t, 0x2000), "over");
	assert_string_equal(name_at(t, 0x202f), "over");
	assert_string_equal(name_at(t, 0x307f), "first");
	assert_string_equal(name_at(t, 0x3080), "second");
	assert_string_equal(name_at(t, 0x317f), "second");
	assert_string_equal(name_at(t, 0x4000), "c");
	assert_string_equal(name_at(t, 0x4010), "d");
	symbol_table_free(t);
}

static void test_what_names_nothing_is_counted(void **state)
{
	struct symbol_table *t = read_text("\n"
					   "1000\n"
					   "1000 10\n"
					   "1000 10 \n"
					   "1000 0 empty\n"
					   "-1000 10 negative\n"
					   " 1000 10 blank\n"
					   "x 10 no-number\n"
					   "0x 10 no-digit\n"
					   "11112222333344445 10 long\n"
					   "ffffffffffffffff 10 wraps\n"
					   "1000 ffffffffffffffff wraps\n"
					   "1000 10 good\n"
					   "2000 10 half a li",
					   12);

	assert_string_equal(name_at(t, 0x1000), "good");
	assert_string_equal(name_at(t, 0x2000), "-");
	assert_int_equal(symbol_table_count(t), 1);
	symbol_table_free(t);
}

static void test_names_are_printable_and_limited(void **state)
{
	static const char text[] = "1000 10 a\033[31mb\x80\n2000 10 c\0d\n3000 10 ";
	size_t n = sizeof(text) - 1, n_long = 1 << 20;
	char *bytes = malloc(n + n_long + 1);
	struct symbol_table *t;

	assert_non_null(bytes);
	memcpy(bytes, text, n);
	memset(bytes + n, 'x', n_long);
	bytes[n + n_long] = '\n';
	t = read_bytes(bytes, n + n_long + 1, 0);
	assert_string_equal(name_at(t, 0x1000), "a?[31mb?");
	assert_string_equal(name_at(t, 0x2000), "c");
	assert_int_equal(strlen(name_at(t, 0x3000)), 4096);
	symbol_table_free(t);
	free(bytes);
}

static void test_no_bytes(void **state)
{
	struct symbol_table *t = read_text("", 0);

	assert_string_equal(name_at(t, 0), "-");
	symbol_table_free(t);
	t = read_bytes("\n\n\n", 3, 3);
	assert_string_equal(name_at(t, 0), "-");
	symbol_table_free(t);
}

/* The name of the last line with the address, found without any order. */
static const char *naive_name(const uint64_t (*lines)[2], size_t n, uint64_t address)
{
	static char name[16];

	while (n-- > 0) {
		if (address - lines[n][0] >= lines[n][1])
			continue;
		snprintf(name, sizeof(name), "f%zu", n);
		return name;
	}
	return "-";
}

static void test_random_lines_as_naively(void **state)
{
	enum { ROUNDS = 300, LINES = 40, SPAN = 200 };
	uint64_t lines[LINES][2];

	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_free_ char *text = NULL;
		struct symbol_table *t;
		size_t n_text;
		FILE *f = open_memstream(&text, &n_text);

		assert_non_null(f);
		for (size_t i = 0; i < LINES; i++) {
			lines[i][0] = 0x1000 + (uint64_t)rand() % SPAN;
			lines[i][1] = 1 + (uint64_t)rand() % (round % 2 ? 10 : 80);
			fprintf(f, "%jx %jx f%zu\n", (uintmax_t)lines[i][0], (uintmax_t)lines[i][1],
				i);
		}
		fclose(f);
		t = read_text(text, 0);
		for (uint64_t at = 0xff0; at < 0x1000 + SPAN + 100; at++)
			assert_string_equal(name_at(t, at), naive_name(lines, LINES, at));
		symbol_table_free(t);
	}
}

static struct symbol_table *read_file(int fd)
{
	struct elf_file *file;
	struct symbol_table *table;
	uint64_t malformed;

	assert_int_equal(jit_symbols_open(&file, fd, &malformed), 0);
	assert_int_equal(malformed, 0);
	table = file->symbols;
	file->symbols = NULL;
	elf_file_free(file);
	return table;
}

static void write_at(int fd, off_t offset, const char *text)
{
	assert_int_equal(pwrite(fd, text, strlen(text), offset), strlen(text));
}

static void test_of_a_long_file_the_end_counts(void **state)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct symbol_table *t;

	assert_true(fd >= 0);
	write_at(fd, 0, "1000 10 begin\n");
	write_at(fd, (off_t)10 << 30, "2000 10 before\n3000 10 end\n");
	t = read_file(fd);
	assert_string_equal(name_at(t, 0x1000), "-");
	assert_string_equal(name_at(t, 0x2000), "-"); /* its line began too long before */
	assert_string_equal(name_at(t, 0x3000), "end");
	symbol_table_free(t);
}

static void test_of_many_lines_the_last_count(void **state)
{
	enum { TOO_MANY = 1000 };
	FILE *f = fdopen(memfd_create("map", MFD_CLOEXEC), "w");
	struct symbol_table *t;
	int fd;

	assert_non_null(f);
	for (uint32_t i = 0; i < JIT_SYMBOLS_MAX + TOO_MANY; i++)
		fprintf(f, "%x 8 f%u\n", 0x1000 + 16 * i, i);
	fd = dup(fileno(f));
	fclose(f);
	t = read_file(fd);
	assert_int_equal(symbol_table_count(t), JIT_SYMBOLS_MAX);
	assert_string_equal(name_at(t, 0x1000), "-");
	assert_string_equal(name_at(t, 0x1000 + 16 * TOO_MANY), "f1000");
	symbol_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_functions),
		cmocka_unit_test(test_later_lines_hold),
		cmocka_unit_test(test_what_names_nothing_is_counted),
		cmocka_unit_test(test_names_are_printable_and_limited),
		cmocka_unit_test(test_no_bytes),
		cmocka_unit_test(test_random_lines_as_naively),
		cmocka_unit_test(test_of_a_long_file_the_end_counts),
		cmocka_unit_test(test_of_many_lines_the_last_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
