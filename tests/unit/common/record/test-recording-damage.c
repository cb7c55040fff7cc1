/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recordings that are not what they should be: each is refused in one line that names the file and
 * where in it, and with force what came before the damage is read, and what was lost is said.
 * Packed recordings: test-recording-packed.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/record/perf-file.h"
#include "tests/perfdata/perfdata.h"
#include "tests/support/damaged-recording.h"

/* How many of the events lie whole before @end. */
static size_t events_before(const struct example *e, size_t end)
{
	size_t at = example_data_start(e), n = 0;

	while (at < example_data_end(e)) {
		const struct perf_event_header *h = (const void *)(e->data + at);

		at += h->size;
		n += at <= end && h->type < RECORD_HEADER_ATTR;
	}
	return n;
}

static void check_refused(const struct example *e, size_t n_bytes)
{
	struct result r;

	read_bytes(e, n_bytes, false, &r);
	assert_true(r.error < 0);
	read_bytes(e, n_bytes, true, &r);
	assert_true(r.error < 0);
}

static void test_a_file_cut_off_anywhere(void **state)
{
	struct example e;
	size_t start, end;

	example_make(&e, 0);
	start = example_data_start(&e);
	end = example_data_end(&e);
	for (size_t n = 0; n < e.n; n++) {
		if (n < start)
			check_refused(&e, n);
		else
			check_damaged(&e, n, events_before(&e, n));
	}
	assert_int_equal(events_before(&e, end), EXAMPLE_N_EVENTS);
	example_done(&e);
}

/* A pipe ends where it ends: between records that is no fault. */
static void test_a_pipe_cut_off_anywhere(void **state)
{
	size_t boundary = PERF_PIPE_HEADER_BYTES;
	struct example e;

	example_make(&e, PERFDATA_PIPE);
	for (size_t n = 0; n <= e.n; n++) {
		struct result r;

		if (n == boundary) {
			read_bytes(&e, n, false, &r);
			assert_int_equal(r.error, 0);
			assert_int_equal(r.n, events_before(&e, n));
			if (n < e.n)
				boundary += ((struct perf_event_header *)(e.data + n))->size;
		} else if (n < PERF_PIPE_HEADER_BYTES) {
			check_refused(&e, n);
		} else {
			check_damaged(&e, n, events_before(&e, n));
		}
	}
	example_done(&e);
}

static void test_any_byte_changed(void **state)
{
	for (unsigned int flags = 0; flags <= PERFDATA_PIPE; flags += PERFDATA_PIPE) {
		struct example e;

		example_make(&e, flags);
		check_any_byte(&e);
		example_done(&e);
	}
}

static void test_what_is_no_recording(void **state)
{
	static const char *const magics[] = { "PERFFILE", "2ELIFREP", "ELIFFREP", "\177ELF\2\1\1",
					      "PERFILE3" };

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		struct example e;

		example_make(&e, 0);
		memcpy(e.data, magics[i], 8);
		check_refused(&e, e.n);
		example_done(&e);
	}
}

static void test_what_is_said_of_old_and_foreign_files(void **state)
{
	struct result r;
	struct example e;

	example_make(&e, 0);
	memcpy(e.data, "PERFFILE", 8);
	read_bytes(&e, e.n, false, &r);
	assert_non_null(strstr(r.fault.text, ": offset 0: written by a perf of before 2010"));
	memcpy(e.data, "2ELIFREP", 8);
	read_bytes(&e, e.n, false, &r);
	assert_non_null(strstr(r.fault.text, ": offset 0: recorded on a big-endian machine"));
	memcpy(e.data, "#!/bin/s", 8);
	read_bytes(&e, e.n, false, &r);
	assert_non_null(strstr(r.fault.text, ": offset 0: not a recording"));
	read_bytes(&e, 0, false, &r);
	assert_non_null(strstr(r.fault.text, ": is empty"));
	example_done(&e);
}

/* A header that lies, word by word. */
static void test_a_header_that_lies(void **state)
{
	struct lie {
		size_t at;
		uint64_t value;
	};
	static const struct lie lies[] = {
		{ offsetof(struct perf_file_header, n_bytes), 0 },
		{ offsetof(struct perf_file_header, n_bytes), 105 },
		{ offsetof(struct perf_file_header, attr_bytes), 0 },
		{ offsetof(struct perf_file_header, attr_bytes), 79 },
		{ offsetof(struct perf_file_header, attr_bytes), UINT64_MAX },
		{ offsetof(struct perf_file_header, attrs.offset), UINT64_MAX },
		{ offsetof(struct perf_file_header, attrs.offset), 1u << 30 },
		{ offsetof(struct perf_file_header, attrs.n_bytes), 0 },
		{ offsetof(struct perf_file_header, attrs.n_bytes), UINT64_MAX },
		{ offsetof(struct perf_file_header, data.offset), UINT64_MAX },
		{ offsetof(struct perf_file_header, data.offset), 1u << 30 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct example e;

		example_make(&e, 0);
		memcpy(e.data + lies[i].at, &lies[i].value, 8);
		check_refused(&e, e.n);
		example_done(&e);
	}
}

static void test_sizes_that_wrap(void **state)
{
	static const uint64_t all = UINT64_MAX, far = UINT64_MAX - 7;
	struct perf_file_header *h;
	struct example e;
	char *ids;

	example_make(&e, 0);
	h = (void *)e.data;
	h->data.n_bytes = all - h->data.offset / 2;
	/* What follows the records is not told from them any more. */
	{
		struct result r;

		read_bytes(&e, e.n, true, &r);
		assert_true(r.n >= EXAMPLE_N_EVENTS && r.damage.fault.text[0]);
		read_bytes(&e, e.n, false, &r);
		assert_true(r.error < 0);
	}
	example_done(&e);

	example_make(&e, 0);
	h = (void *)e.data;
	ids = e.data + h->attrs.offset + h->attr_bytes - sizeof(struct perf_file_section);
	memcpy(ids + 8, &far, 8);
	check_refused(&e, e.n);
	memcpy(ids, &far, 8);
	check_refused(&e, e.n);
	example_done(&e);
}

static void test_a_record_of_no_size_ends_the_reading(void **state)
{
	struct perf_event_header *h;
	struct result r;
	struct example e;
	char place[64];

	example_make(&e, 0);
	h = record_of_type(&e, PERF_RECORD_SAMPLE);
	h->size = 0;
	snprintf(place, sizeof(place), ": offset %zu: a record of 0 bytes", offset_of(&e, h));
	read_bytes(&e, e.n, false, &r);
	assert_non_null(strstr(r.fault.text, place));
	read_bytes(&e, e.n, true, &r);
	assert_int_equal(r.n, 5);
	assert_int_equal(r.damage.offset, offset_of(&e, h));
	assert_int_equal(r.damage.n_bytes_lost, example_data_end(&e) - offset_of(&e, h));
	example_done(&e);
}

/* One record that contradicts itself does not keep the others from being read. */
static void test_a_record_that_cannot_be_decoded_is_one_lost(void **state)
{
	for (size_t by = 0; by < 8; by++) {
		struct perf_event_header *h;
		struct example plain, e;
		struct result r;
		char place[64];

		example_make(&plain, 0);
		example_shift(&e, &plain, by);
		h = (void *)(e.data + by +
			     offset_of(&plain, record_of_type(&plain, PERF_RECORD_SAMPLE)));
		memset((char *)h + 56, 0xff, 8); /* how many rows there are */
		snprintf(place, sizeof(place), ": offset %zu: ", offset_of(&e, h));
		read_bytes(&e, e.n, false, &r);
		if (!strstr(r.fault.text, place))
			fail_msg("not at%s but %s", place, r.fault.text);
		read_bytes(&e, e.n, true, &r);
		assert_int_equal(r.n, EXAMPLE_N_EVENTS - 1);
		assert_int_equal(r.damage.offset, offset_of(&e, h));
		assert_int_equal(r.damage.n_bytes_lost,
				 record_of_type(&plain, PERF_RECORD_SAMPLE)->size);
		example_done(&e);
		example_done(&plain);
	}
}

/* Where perf record was killed it did not get to say how much there is. */
static void test_a_recording_not_finished(void **state)
{
	static const uint64_t nothing;
	struct example e;
	struct result r;
	size_t end;

	example_make(&e, 0);
	end = example_data_end(&e);
	memcpy(e.data + offsetof(struct perf_file_header, data.n_bytes), &nothing, 8);
	read_bytes(&e, end, false, &r);
	assert_non_null(strstr(r.fault.text, "not finished"));
	read_bytes(&e, end, true, &r);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.n, EXAMPLE_N_EVENTS);
	assert_true(r.damage.fault.text[0]);
	example_done(&e);
}

static void test_features_that_lie_elsewhere(void **state)
{
	uint64_t far = 1u << 30;
	struct example e;

	example_make(&e, 0);
	memcpy(e.data + example_data_end(&e), &far, 8); /* the first section's place */
	check_damaged(&e, e.n, EXAMPLE_N_EVENTS);
	example_done(&e);
}

/* An AUXTRACE record says how much follows it that is no record. */
static void test_bytes_behind_a_record_that_are_not_there(void **state)
{
	static const uint64_t sizes[] = { 1u << 20, UINT64_MAX, UINT64_MAX - 100 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct perf_event_header *h;
		struct example e;

		example_make(&e, 0);
		h = record_of_type(&e, PERF_RECORD_SAMPLE);
		h->type = RECORD_AUXTRACE;
		memcpy(h + 1, &sizes[i], 8);
		check_damaged(&e, e.n, 5);
		example_done(&e);
	}
}

static void test_what_cannot_be_opened(void **state)
{
	struct recording *r = NULL;
	struct fault fault;

	assert_int_equal(recording_open(&r, "/nowhere/perf.data", false, &fault), -ENOENT);
	assert_string_equal(fault.text, "/nowhere/perf.data: No such file or directory");
	assert_int_equal(recording_open(&r, "/", false, &fault), -EISDIR);
	assert_memory_equal(fault.text, "/: is a directory", 17);
	assert_null(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_cut_off_anywhere),
		cmocka_unit_test(test_a_pipe_cut_off_anywhere),
		cmocka_unit_test(test_any_byte_changed),
		cmocka_unit_test(test_what_is_no_recording),
		cmocka_unit_test(test_what_is_said_of_old_and_foreign_files),
		cmocka_unit_test(test_a_header_that_lies),
		cmocka_unit_test(test_sizes_that_wrap),
		cmocka_unit_test(test_bytes_behind_a_record_that_are_not_there),
		cmocka_unit_test(test_a_record_of_no_size_ends_the_reading),
		cmocka_unit_test(test_a_record_that_cannot_be_decoded_is_one_lost),
		cmocka_unit_test(test_a_recording_not_finished),
		cmocka_unit_test(test_features_that_lie_elsewhere),
		cmocka_unit_test(test_what_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
