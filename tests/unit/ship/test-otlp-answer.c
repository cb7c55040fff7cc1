/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "ship/otlp-answer.h"

#define REJECTED(text) otlp_answer_rejected(text, sizeof(text) - 1)

static void test_the_number_is_read(void **state)
{
	assert_int_equal(REJECTED("\x0a\x02\x08\x03"), 3);
	assert_int_equal(REJECTED("\x0a\x03\x08\xac\x02"), 300);
	assert_int_equal(REJECTED("\x0a\x07\x08\x01\x12\x03why"), 1);
}

static void test_other_answers_reject_nothing(void **state)
{
	assert_int_equal(REJECTED(""), 0);
	assert_int_equal(REJECTED("{}"), 0);
	assert_int_equal(REJECTED("{\"partialSuccess\":{}}"), 0);
	assert_int_equal(REJECTED("\x0a"), 0);
	assert_int_equal(REJECTED("\x0a\x05\x12\x03why"), 0);
}

/* Each is read to its end, not beyond. */
static void test_cut_answers_reject_nothing(void **state)
{
	static const char endless[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x08\x01";

	assert_int_equal(REJECTED("\x0a\x02\x08"), 0);
	assert_int_equal(REJECTED("\x0a\x01\x08\x03"), 0);
	assert_int_equal(REJECTED("\x0a\x03\x08\x80\x80"), 0);
	for (size_t n = 0; n < sizeof(endless); n++)
		assert_int_equal(otlp_answer_rejected(endless, n), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_number_is_read),
		cmocka_unit_test(test_other_answers_reject_nothing),
		cmocka_unit_test(test_cut_answers_reject_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
