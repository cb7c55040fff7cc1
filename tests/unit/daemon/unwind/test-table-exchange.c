/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <poll.h>

#include "daemon/unwind/table-exchange.h"

static struct table_exchange *make(void)
{
	struct table_exchange *x = NULL;

	assert_int_equal(table_exchange_new(&x), 0);
	return x;
}

static bool want(struct table_exchange *x, uint64_t id)
{
	return table_exchange_want(x, &(struct wanted_table){ .id = id, .inode = 100 + id });
}

/* A table of one row, in memory of its own. */
static struct unwind_table make_table(void)
{
	static const uint32_t start = 0x1000;
	static const uint16_t rule_id = 0;
	static const struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
	const struct unwind_rows rows = {
		.starts = &start, .rule_ids = &rule_id, .n = 1, .rules = &rule, .n_rules = 1
	};
	struct unwind_table table;

	assert_int_equal(unwind_table_pack(&table, &rows), 0);
	return table;
}

static void answer(struct table_exchange *x, uint64_t id)
{
	struct built_table built = { .id = id, .table = make_table(), .later = id % 2 };

	table_exchange_put_built(x, &built);
	assert_null(built.table.memory); /* it is taken over */
	assert_int_equal(built.table.n_rows, 0);
}

static void assert_wanted(struct table_exchange *x, uint64_t id)
{
	struct wanted_table wanted;

	assert_true(table_exchange_take_wanted(x, &wanted));
	assert_int_equal(wanted.id, id);
	assert_int_equal(wanted.inode, 100 + id);
}

static void assert_built(struct table_exchange *x, uint64_t id)
{
	struct built_table built;

	assert_true(table_exchange_take_built(x, &built));
	assert_int_equal(built.id, id);
	assert_int_equal(built.later, id % 2);
	assert_int_equal(built.table.n_rows, 1);
	unwind_table_done(&built.table);
}

static bool is_readable(const struct table_exchange *x)
{
	struct pollfd fd = { .fd = table_exchange_wanted_fd(x), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void requests_and_answers_keep_their_order(void **state)
{
	struct table_exchange *x = make();
	struct wanted_table wanted;
	struct built_table built;

	assert_false(table_exchange_take_wanted(x, &wanted));
	assert_false(table_exchange_take_built(x, &built));
	/* more often than there are places */
	for (uint64_t id = 0; id < 2 * TABLE_EXCHANGE_MAX; id += 3) {
		for (uint64_t i = 0; i < 3; i++)
			assert_true(want(x, id + i));
		for (uint64_t i = 0; i < 3; i++)
			assert_wanted(x, id + i);
		assert_false(table_exchange_take_wanted(x, &wanted));
		for (uint64_t i = 0; i < 3; i++)
			answer(x, id + i);
		for (uint64_t i = 0; i < 3; i++)
			assert_built(x, id + i);
		assert_false(table_exchange_take_built(x, &built));
	}
	table_exchange_free(x);
}

/* A request has its place until the collector has taken the answer. */
static void requests_are_limited(void **state)
{
	struct table_exchange *x = make();

	for (uint64_t id = 0; id < TABLE_EXCHANGE_MAX; id++)
		assert_true(want(x, id));
	assert_false(want(x, TABLE_EXCHANGE_MAX));
	for (uint64_t id = 0; id < TABLE_EXCHANGE_MAX; id++)
		assert_wanted(x, id);
	assert_false(want(x, TABLE_EXCHANGE_MAX));
	for (uint64_t id = 0; id < TABLE_EXCHANGE_MAX; id++)
		answer(x, id);
	assert_false(want(x, TABLE_EXCHANGE_MAX));
	assert_built(x, 0);
	assert_true(want(x, TABLE_EXCHANGE_MAX));
	assert_false(want(x, TABLE_EXCHANGE_MAX + 1));

	/* the one that was refused is not there, and the others are */
	assert_wanted(x, TABLE_EXCHANGE_MAX);
	answer(x, TABLE_EXCHANGE_MAX);
	for (uint64_t id = 1; id <= TABLE_EXCHANGE_MAX; id++)
		assert_built(x, id);
	table_exchange_free(x);
}

static void it_is_readable_while_a_table_is_wanted(void **state)
{
	struct table_exchange *x = make();

	assert_false(is_readable(x));
	assert_true(want(x, 1));
	assert_true(want(x, 2));
	assert_true(is_readable(x));
	assert_wanted(x, 1);
	assert_true(is_readable(x));
	assert_wanted(x, 2);
	assert_false(is_readable(x));
	answer(x, 1);
	assert_false(is_readable(x));
	assert_true(want(x, 3));
	assert_true(is_readable(x));
	table_exchange_free(x);
}

/* Under sanitizers or valgrind: nothing leaks. */
static void what_was_not_taken_is_released(void **state)
{
	struct table_exchange *x = make();

	/* the answers begin in the last place */
	for (uint64_t id = 0; id < TABLE_EXCHANGE_MAX - 1; id++) {
		assert_true(want(x, id));
		assert_wanted(x, id);
		answer(x, id);
		assert_built(x, id);
	}
	for (uint64_t id = 0; id < 3; id++) {
		assert_true(want(x, id));
		assert_wanted(x, id);
		answer(x, id);
	}
	assert_true(want(x, 3));
	assert_null(table_exchange_free(x));
	assert_null(table_exchange_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_answers_keep_their_order),
		cmocka_unit_test(requests_are_limited),
		cmocka_unit_test(it_is_readable_while_a_table_is_wanted),
		cmocka_unit_test(what_was_not_taken_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
