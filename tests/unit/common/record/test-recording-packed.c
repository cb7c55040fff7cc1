/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Damage in recordings whose records are packed (compressed) into others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/record/perf-file.h"
#include "tests/perfdata/perfdata.h"
#include "tests/support/damaged-recording.h"

/* Of packed records those come out that were packed before the cut; never more, never other ones.
 */
static void test_a_packed_file_cut_off_anywhere(void **state)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct example plain, packed;
		size_t last = 0;

		example_make(&plain, 0);
		example_pack(&packed, &plain, types[i], 60);
		for (size_t n = example_data_start(&packed); n < packed.n; n++) {
			struct result r;

			read_bytes(&packed, n, false, &r);
			assert_true(r.error < 0);
			read_bytes(&packed, n, true, &r);
			assert_true(r.error == 0 && r.damage.fault.text[0]);
			assert_true(r.n >= last && r.n <= EXAMPLE_N_EVENTS);
			last = r.n;
		}
		assert_int_equal(last, EXAMPLE_N_EVENTS);
		example_done(&packed);
		example_done(&plain);
	}
}

static void test_any_byte_of_a_packed_file_changed(void **state)
{
	for (unsigned int flags = 0; flags <= PERFDATA_PIPE; flags += PERFDATA_PIPE) {
		struct example e, packed;

		example_make(&e, flags);
		example_pack(&packed, &e, RECORD_COMPRESSED, 100);
		check_any_byte(&packed);
		example_done(&packed);
		example_done(&e);
	}
}

/* COMPRESSED2 says how much of it is data; a lie is found where it stands. */
static void test_packed_data_that_lies_of_its_size(void **state)
{
	struct example plain, e;
	struct perf_event_header *h;
	uint64_t too_much = 1000;
	struct result r;
	char place[64];

	example_make(&plain, 0);
	example_pack(&e, &plain, RECORD_COMPRESSED2, 100);
	h = record_of_type(&e, RECORD_COMPRESSED2);
	memcpy((char *)h + 8, &too_much, 8);
	snprintf(place, sizeof(place), ": offset %zu: ", offset_of(&e, h));
	read_bytes(&e, e.n, false, &r);
	assert_true(r.error < 0);
	assert_non_null(strstr(r.fault.text, place));
	check_damaged(&e, e.n, 0);
	example_done(&e);
	example_done(&plain);
}

static void test_packed_data_that_is_broken(void **state)
{
	struct example plain, e;
	struct perf_event_header *h;
	struct result r;
	char place[64];

	example_make(&plain, 0);
	example_pack(&e, &plain, RECORD_COMPRESSED, 100);
	h = record_of_type(&e, RECORD_COMPRESSED);
	memset(h + 1, 0xff, 4); /* zstd's magic */
	snprintf(place, sizeof(place), ": offset %zu: ", offset_of(&e, h));
	read_bytes(&e, e.n, false, &r);
	if (!strstr(r.fault.text, place))
		fail_msg("not at%s but %s", place, r.fault.text);
	read_bytes(&e, e.n, true, &r);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.damage.offset, offset_of(&e, h));
	assert_int_equal(r.damage.n_bytes_lost, example_data_end(&e) - offset_of(&e, h));
	example_done(&e);
	example_done(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_packed_file_cut_off_anywhere),
		cmocka_unit_test(test_any_byte_of_a_packed_file_changed),
		cmocka_unit_test(test_packed_data_that_lies_of_its_size),
		cmocka_unit_test(test_packed_data_that_is_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
