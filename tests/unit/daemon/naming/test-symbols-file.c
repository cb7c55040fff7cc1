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
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/naming/symbols-file.h"
#include "tests/support/kept-bytes.h"

#define ROWS_AT   72
#define ROW_BYTES 16

static const struct build_id id = { .bytes = { 0xab, 0xcd, 1 }, .n = 20 };
static const struct symbol_entry entries[] = {
	{ .start = 0, .size = 0x40, .limit = 0x100, .name = "_text" },
	{ .start = 0x40, .limit = 0x100, .name = "do_syscall_64", .binding = SYMBOL_GLOBAL },
	{ .start = 0x200, .size = 0x10, .limit = 0x300, .name = "outer" },
	{ .start = 0x204, .size = 4, .limit = 0x300, .name = "inner" },
};

static struct symbol_table *make_table(size_t n)
{
	struct symbol_table *table;

	assert_int_equal(symbol_table_new(&table), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(symbol_table_add(table, &entries[i]), 0);
	assert_int_equal(symbol_table_finalize(table), 0);
	return table;
}

static struct kept_bytes write_table(size_t n)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = make_table(n);
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	struct symbols_content content;
	struct kept_bytes b = {};

	assert_true(fd >= 0);
	assert_int_equal(symbols_content_make(&content, table), 0);
	assert_int_equal(symbols_file_write(fd, &id, &content), 0);
	b.n = (size_t)pread(fd, b.bytes, sizeof(b.bytes), 0);
	assert_int_equal(b.n, symbols_file_bytes(&content));
	symbols_content_done(&content);
	close(fd);
	return b;
}

static int parse(const struct kept_bytes *b)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = NULL;

	return symbols_file_parse(b->bytes, b->n, &id, &table);
}

static void test_what_was_written_is_read(void **state)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = make_table(ARRAY_SIZE(entries));
	_cleanup_(symbol_table_freep) struct symbol_table *read = NULL;
	struct kept_bytes b = write_table(ARRAY_SIZE(entries));

	assert_int_equal(symbols_file_parse(b.bytes, b.n, &id, &read), 0);
	assert_int_equal(symbol_table_count(read), ARRAY_SIZE(entries));
	for (uint64_t at = 0; at < 0x400; at++)
		assert_int_equal(symbol_table_find(read, at), symbol_table_find(table, at));
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		assert_string_equal(symbol_table_name(read, i), entries[i].name);
		assert_int_equal(symbol_table_get(read, i).size, symbol_table_get(table, i).size);
	}
}

static void test_a_table_without_symbols(void **state)
{
	_cleanup_(symbol_table_freep) struct symbol_table *read = NULL;
	struct kept_bytes b = write_table(0);

	assert_int_equal(symbols_file_parse(b.bytes, b.n, &id, &read), 0);
	assert_int_equal(symbol_table_count(read), 0);
}

static void test_each_missing_byte_is_noticed(void **state)
{
	kept_bytes_test_missing(write_table(ARRAY_SIZE(entries)), parse);
}

static void test_each_wrong_bit_is_noticed(void **state)
{
	kept_bytes_test_wrong_bits(write_table(ARRAY_SIZE(entries)), parse);
}

static int parse_with_checksum(struct kept_bytes *b)
{
	kept_bytes_set_checksum(b);
	return parse(b);
}

static void test_places_out_of_bounds_are_noticed_behind_a_right_checksum(void **state)
{
	struct kept_bytes b = write_table(ARRAY_SIZE(entries)), good = b;

	assert_int_equal(parse_with_checksum(&b), 0);
	b.bytes[ROWS_AT + ROW_BYTES + 13]++; /* where the name is */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b = good;
	memset(b.bytes + ROWS_AT + 8, 0, 4); /* its size */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b = good;
	memset(b.bytes + ROWS_AT, 0xff, 8); /* it ends behind the last address */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b = good;
	memset(b.bytes + ROWS_AT + 2 * ROW_BYTES, 0, 8); /* it starts before the one before */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b.bytes[ROWS_AT + 2 * ROW_BYTES] = 0x40; /* it starts where the one before does */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b = good;
	b.bytes[b.n - 1] = 'x'; /* the last name has no end */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
	b = good;
	memset(b.bytes + ROWS_AT - 12, 0xff, 8); /* the numbers of rows and of bytes of names */
	assert_int_equal(parse_with_checksum(&b), -EBADMSG);
}

static void test_another_version_is_stale(void **state)
{
	kept_bytes_test_versions(write_table(ARRAY_SIZE(entries)), parse);
}

static void test_a_table_of_another_object_is_refused(void **state)
{
	_cleanup_(symbol_table_freep) struct symbol_table *read = NULL;
	struct kept_bytes b = write_table(ARRAY_SIZE(entries));
	struct build_id other = id;

	other.bytes[19] = 1;
	assert_int_equal(symbols_file_parse(b.bytes, b.n, &other, &read), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written_is_read),
		cmocka_unit_test(test_a_table_without_symbols),
		cmocka_unit_test(test_each_missing_byte_is_noticed),
		cmocka_unit_test(test_each_wrong_bit_is_noticed),
		cmocka_unit_test(test_places_out_of_bounds_are_noticed_behind_a_right_checksum),
		cmocka_unit_test(test_another_version_is_stale),
		cmocka_unit_test(test_a_table_of_another_object_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
