/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/sort.h"

#include "common/util/compare.h"

#define N 5000

/* The key, and the place before sorting. */
struct element {
	uint32_t key, place;
};

static size_t n_compared;

static int compare(const void *x, const void *y)
{
	const struct element *a = x, *b = y;

	n_compared++;
	return COMPARE(a->key, b->key);
}

static void check(struct element *elements, size_t n)
{
	char *was_there = calloc(n ?: 1, 1);

	n_compared = 0;
	sort_nearly(elements, n, sizeof(*elements), compare);
	for (size_t i = 0; i < n; i++) {
		assert_true(elements[i].place < n);
		assert_false(was_there[elements[i].place]++);
		if (i > 0)
			assert_true(elements[i - 1].key <= elements[i].key);
		if (i > 0 && elements[i - 1].key == elements[i].key)
			assert_true(elements[i - 1].place < elements[i].place);
	}
	free(was_there);
}

static void fill(struct element *elements, size_t n, uint32_t (*key_of)(uint32_t i))
{
	for (uint32_t i = 0; i < n; i++)
		elements[i] = (struct element){ key_of(i), i };
}

static uint32_t in_order(uint32_t i)
{
	return i / 3;
}

static uint32_t reversed(uint32_t i)
{
	return N - i;
}

static uint32_t any(uint32_t i)
{
	return i * 2654435761u >> 20;
}

static uint32_t swapped(uint32_t i)
{
	return i ^ 1;
}

/* Short parts at the end are out of order, as BPF programs are behind the kernel's functions. */
static uint32_t nearly(uint32_t i)
{
	return i < N - 8 ? i : 2 * N - i;
}

static void test_sorts_any_order(void **state)
{
	static uint32_t (*const orders[])(uint32_t) = { in_order, reversed, any, swapped, nearly };
	static struct element elements[N];

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		for (size_t n = 0; n < 10; n++) {
			fill(elements, n, orders[i]);
			check(elements, n);
		}
		fill(elements, N, orders[i]);
		check(elements, N);
	}
}

static void test_compares_little_what_is_in_order(void **state)
{
	static struct element elements[N];

	fill(elements, N, in_order);
	check(elements, N);
	assert_int_equal(n_compared, N - 1);
	fill(elements, N, nearly);
	check(elements, N);
	assert_true(n_compared < N + 100);
	fill(elements, N, any);
	check(elements, N);
	assert_true(n_compared < 20ul * N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts_any_order),
		cmocka_unit_test(test_compares_little_what_is_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
