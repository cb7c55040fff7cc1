/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/unwind/table-file.h"

static const struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
static const uint32_t starts[] = { 0x1000, 0x2000 };
static const uint16_t rule_ids[] = { 0, 0 };
static const struct unwind_rows rows = { .machine = EM_X86_64,
					 .starts = starts,
					 .rule_ids = rule_ids,
					 .n = ARRAY_SIZE(starts),
					 .rules = &rule,
					 .n_rules = 1 };
static const struct build_id id = { .bytes = { 0xfe, 1 }, .n = 20 };
static const struct file_identity file = {
	.major = 254, .inode = 1, .ctime_ns = -1, .n_bytes = 2, .trusted = true
};

static void open_cache(struct kept_files **cache, const char *directory)
{
	const struct kept_files_settings settings = { .directory = directory };

	*cache = kept_files_free(*cache);
	assert_int_equal(table_cache_open(cache, &settings), 0);
}

static void test_a_table_is_there_after_a_restart(void **state)
{
	char place[] = "/tmp/test-table-cache-XXXXXX", command[64];
	struct kept_files *cache = NULL;
	struct kept_files_counts counts;
	struct unwind_table table, read;

	assert_int_equal(unwind_table_pack(&table, &rows), 0);
	assert_non_null(mkdtemp(place));
	open_cache(&cache, place);
	assert_int_equal(table_cache_get(cache, &id, &file, &read), 0);
	table_cache_put(cache, &id, &file, &table);
	open_cache(&cache, place);
	assert_int_equal(table_cache_get(cache, &id, &file, &read), 1);
	assert_int_equal(read.n_rows, ARRAY_SIZE(starts));
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		assert_int_equal(unwind_table_row(&read, i).start, starts[i]);
	unwind_table_done(&read);
	kept_files_get_counts(cache, &counts);
	assert_int_equal(counts.bytes, table_file_bytes(&table));
	unwind_table_done(&table);
	kept_files_free(cache);
	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table_is_there_after_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
