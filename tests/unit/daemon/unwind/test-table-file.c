/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "daemon/kept/kept-header.h"
#include "daemon/unwind/table-file.h"
#include "tests/support/kept-bytes.h"

#define COUNT_AT sizeof(struct kept_header)
#define BODY_AT  (sizeof(struct kept_header) + 16) /* behind the numbers */

static const struct build_id id = { .bytes = { 0xab, 0xcd, 1 }, .n = 20 };
static const struct unwind_rule rules[] = {
	{ .cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_X86_SP, .cfa_offset = 8 },
	{ .cfa = UNWIND_CFA_NONE },
};
static const uint32_t starts[] = { 0x1000, 0x1010, 0x2000 };
static const uint16_t rule_ids[] = { UNWIND_FUNCTION, 1, UNWIND_FUNCTION };
static const struct unwind_rows rows = {
	.machine = EM_X86_64,
	.starts = starts,
	.rule_ids = rule_ids,
	.n = ARRAY_SIZE(starts),
	.rules = rules,
	.n_rules = ARRAY_SIZE(rules),
};
static struct unwind_table table;

static int begin(void **state)
{
	return unwind_table_pack(&table, &rows);
}

static int end(void **state)
{
	unwind_table_done(&table);
	return 0;
}

static struct kept_bytes write_table(const struct unwind_table *what)
{
	int fd = memfd_create("table", MFD_CLOEXEC);
	struct kept_bytes b = {};

	assert_true(fd >= 0);
	assert_int_equal(table_file_write(fd, &id, what), 0);
	b.n = (size_t)pread(fd, b.bytes, sizeof(b.bytes), 0);
	assert_int_equal(b.n, table_file_bytes(what));
	close(fd);
	return b;
}

static int parse(const struct kept_bytes *b)
{
	struct unwind_table read;
	int r = table_file_parse(b->bytes, b->n, &id, &read);

	if (r == 0)
		unwind_table_done(&read);
	return r;
}

static void test_what_was_written_is_read(void **state)
{
	struct kept_bytes b = write_table(&table);
	struct unwind_table read;

	assert_int_equal(table_file_parse(b.bytes, b.n, &id, &read), 0);
	assert_int_equal(read.machine, EM_X86_64);
	assert_int_equal(read.n_rows, table.n_rows);
	assert_int_equal(read.n_rules, table.n_rules);
	assert_memory_equal(read.rules, rules, sizeof(rules));
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		assert_int_equal(unwind_table_row(&read, i).start, starts[i]);
		assert_int_equal(unwind_table_row(&read, i).rule_id, rule_ids[i]);
	}
	unwind_table_done(&read);
}

static void test_a_table_without_rows(void **state)
{
	struct kept_bytes b = write_table(&(struct unwind_table){});
	struct unwind_table read;

	assert_int_equal(table_file_parse(b.bytes, b.n, &id, &read), 0);
	assert_int_equal(read.n_rows, 0);
	unwind_table_done(&read);
}

static void test_each_missing_byte_is_noticed(void **state)
{
	kept_bytes_test_missing(write_table(&table), parse);
}

static void test_each_wrong_bit_is_noticed(void **state)
{
	kept_bytes_test_wrong_bits(write_table(&table), parse);
}

static void test_numbers_out_of_bounds_are_noticed_behind_a_right_checksum(void **state)
{
	struct kept_bytes b = write_table(&table);
	/* a part, and then a byte for each number: rule, distance and rule, distance and rule */
	uint8_t *packed = b.bytes + BODY_AT + sizeof(rules) + sizeof(struct unwind_part);

	kept_bytes_set_checksum(&b);
	assert_int_equal(parse(&b), 0);
	packed[2] = 2 * 2; /* there are two rules: 0 and 1 */
	kept_bytes_set_checksum(&b);
	assert_int_equal(parse(&b), -EBADMSG);
	packed[2] = 2;
	kept_bytes_set_checksum(&b);
	assert_int_equal(parse(&b), 0);
	b.bytes[BODY_AT + offsetof(struct unwind_rule, cfa_register)] = UNWIND_N_REGISTERS;
	kept_bytes_set_checksum(&b);
	assert_int_equal(parse(&b), -EBADMSG);
	b = write_table(&table);
	memset(b.bytes + COUNT_AT, 0xff, 8); /* the numbers of rules and rows */
	kept_bytes_set_checksum(&b);
	assert_int_equal(parse(&b), -EBADMSG);
}

static void test_another_version_is_stale(void **state)
{
	kept_bytes_test_versions(write_table(&table), parse);
}

static void test_a_table_of_another_object_is_refused(void **state)
{
	struct kept_bytes b = write_table(&table);
	struct build_id other = id;
	struct unwind_table read;

	other.bytes[19] = 1;
	assert_int_equal(table_file_parse(b.bytes, b.n, &other, &read), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written_is_read),
		cmocka_unit_test(test_a_table_without_rows),
		cmocka_unit_test(test_each_missing_byte_is_noticed),
		cmocka_unit_test(test_each_wrong_bit_is_noticed),
		cmocka_unit_test(test_numbers_out_of_bounds_are_noticed_behind_a_right_checksum),
		cmocka_unit_test(test_another_version_is_stale),
		cmocka_unit_test(test_a_table_of_another_object_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
