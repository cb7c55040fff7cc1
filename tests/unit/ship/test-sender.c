/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ship/sender.h"

#define SECOND_US 1000000
#define N         200

/* Twice as long each time, up to five minutes; half of it is chance. */
static void test_waits_grow_and_differ(void **state)
{
	for (unsigned int failures = 0; failures < 40; failures++) {
		uint64_t longest = failures < 9 ? (uint64_t)SECOND_US << failures : 300 * SECOND_US;
		uint64_t least = UINT64_MAX, most = 0;

		longest = longest < 300 * SECOND_US ? longest : 300 * SECOND_US;
		for (int i = 0; i < N; i++) {
			uint64_t us = sender_wait_us(failures);

			assert_in_range(us, longest / 2, longest);
			least = us < least ? us : least;
			most = us > most ? us : most;
		}
		/* of 200 none in the first or none in the last quarter: once in 10^25 */
		assert_true(least < longest / 2 + longest / 8);
		assert_true(most > longest - longest / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_grow_and_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
