/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/api/slot-sums.h"

static struct profile *new_profile(size_t n_stacks)
{
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	for (size_t i = 0; i < n_stacks; i++) {
		const struct profile_stack stack = { .parent = PROFILE_NONE,
						     .process = PROFILE_NONE,
						     .frame = { PROFILE_NONE, i },
						     .samples = 1 };

		assert_true(profile_add_stack(p, &stack) >= 0);
	}
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static struct slot_key key_of(int64_t id, unsigned int tables)
{
	struct window windows[2] = { { .id = id, .start_us = 5, .length_us = 7 },
				     { .id = id + 1, .start_us = 12, .length_us = 7 } };
	struct slot_key key;

	slot_key_make(&key, windows, 2, tables);
	return key;
}

static void add(struct slot_sums *sums, int64_t id, size_t n_stacks, uint64_t now_us)
{
	struct slot_key key = key_of(id, 1);
	struct slot_sum *sum = slot_sums_add(sums, &key, new_profile(n_stacks), now_us);

	assert_non_null(sum);
	slot_sums_release(sums, sum);
}

static bool has(struct slot_sums *sums, struct slot_key key, uint64_t now_us)
{
	struct slot_sum *sum = slot_sums_find(sums, &key, now_us);

	if (sum)
		slot_sums_release(sums, sum);
	return sum;
}

static void finds_by_all_windows(void **state)
{
	struct window changed[2] = { { .id = 3, .start_us = 5, .length_us = 7 },
				     { .id = 4, .start_us = 12, .length_us = 8 } };
	struct slot_sums sums = { 0 };
	struct slot_key key;

	add(&sums, 3, 1, 0);
	assert_true(has(&sums, key_of(3, 1), 0));
	assert_false(has(&sums, key_of(3, 2), 0));
	assert_false(has(&sums, key_of(4, 1), 0));
	slot_key_make(&key, changed, 2, 1);
	assert_false(has(&sums, key, 0));
	slot_key_make(&key, changed, 1, 1);
	assert_false(has(&sums, key, 0));
	slot_sums_done(&sums);
}

static void the_least_recently_used_go(void **state)
{
	size_t n_stacks = SLOT_SUMS_MAX_BYTES / 4 / sizeof(struct profile_stack);
	struct slot_sums sums = { 0 };

	for (int64_t i = 1; i <= 3; i++)
		add(&sums, i, n_stacks, 0);
	assert_true(has(&sums, key_of(1, 1), 0));
	add(&sums, 4, n_stacks, 0);
	assert_true(sums.n_bytes <= SLOT_SUMS_MAX_BYTES);
	assert_true(has(&sums, key_of(1, 1), 0));
	assert_false(has(&sums, key_of(2, 1), 0));
	assert_true(has(&sums, key_of(3, 1), 0));
	slot_sums_done(&sums);
	assert_int_equal(sums.n_bytes, 0);
}

static void what_is_in_use_stays(void **state)
{
	size_t n_stacks = SLOT_SUMS_MAX_BYTES / sizeof(struct profile_stack);
	struct slot_key first = key_of(1, 1), second = key_of(2, 1);
	struct slot_sums sums = { 0 };
	struct slot_sum *a = slot_sums_add(&sums, &first, new_profile(n_stacks), 0);
	struct slot_sum *b = slot_sums_add(&sums, &second, new_profile(n_stacks), 0);

	assert_int_equal(slot_sum_profile(a)->n_stacks, n_stacks);
	slot_sums_expire(&sums, SLOT_SUMS_KEEP_US);
	assert_int_equal(slot_sum_profile(b)->n_stacks, n_stacks);
	slot_sums_release(&sums, a);
	slot_sums_release(&sums, b);
	assert_true(sums.n_bytes <= SLOT_SUMS_MAX_BYTES);
	slot_sums_done(&sums);
}

static void what_nobody_uses_expires(void **state)
{
	struct slot_sums sums = { 0 };

	add(&sums, 1, 1, 0);
	add(&sums, 2, 1, 0);
	assert_true(has(&sums, key_of(2, 1), 10));
	slot_sums_expire(&sums, SLOT_SUMS_KEEP_US);
	assert_false(has(&sums, key_of(1, 1), SLOT_SUMS_KEEP_US));
	assert_true(has(&sums, key_of(2, 1), 10));
	slot_sums_expire(&sums, SLOT_SUMS_KEEP_US + 10);
	assert_null(sums.newest);
	assert_int_equal(sums.n_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_all_windows),
		cmocka_unit_test(the_least_recently_used_go),
		cmocka_unit_test(what_is_in_use_stays),
		cmocka_unit_test(what_nobody_uses_expires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
