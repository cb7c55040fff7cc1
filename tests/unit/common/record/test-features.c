/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/record/features.h"
#include "tests/perfdata/bytes.h"

#define HAS_SIZE (1u << 15)

static struct bytes bytes;

static struct features *make(void)
{
	static struct features features;

	assert_int_equal(features_init(&features), 0);
	bytes.n = 0;
	return &features;
}

static void put_feature_string(const char *s)
{
	size_t n = (strlen(s) + 1 + 63) & ~63ul;

	put_u32(&bytes, (uint32_t)n);
	put(&bytes, s, strlen(s) + 1);
	for (size_t i = strlen(s) + 1; i < n; i++)
		put(&bytes, "", 1);
}

static void read_section(struct features *f, unsigned int feature, size_t n)
{
	/* Where it ends its memory ends, so that a sanitizer sees a step beyond. */
	char *copy = malloc(n ?: 1);

	assert_non_null(copy);
	memcpy(copy, bytes.data, n);
	assert_int_equal(features_read(f, feature, copy, n), 0);
	free(copy);
}

static void read_build_id(struct features *f, uint16_t misc, uint8_t size)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	uint8_t tail[4] = { size };

	begin_record(&bytes, 0, misc);
	put_u32(&bytes, UINT32_MAX);
	put(&bytes, id, sizeof(id));
	put(&bytes, tail, sizeof(tail));
	put_string(&bytes, "/bin/x");
	assert_int_equal(features_read_build_id(f, end_record(&bytes), bytes.n), 0);
}

static void test_build_ids_with_and_without_their_size(void **state)
{
	struct features *f = make();

	read_build_id(f, PERF_RECORD_MISC_USER, 99); /* older: the byte says nothing */
	read_build_id(f, PERF_RECORD_MISC_USER | HAS_SIZE, 16);
	read_build_id(f, PERF_RECORD_MISC_KERNEL | HAS_SIZE, 21); /* more than there can be */
	assert_int_equal(f->n_build_ids, 3);
	assert_int_equal(f->build_ids[0].n_build_id, 20);
	assert_int_equal(f->build_ids[1].n_build_id, 16);
	assert_int_equal(f->build_ids[2].n_build_id, 20);
	assert_false(f->build_ids[1].kernel);
	assert_true(f->build_ids[2].kernel);
	assert_string_equal(f->build_ids[0].path, "/bin/x");
	features_done(f);
}

static void test_a_build_id_cut_off_is_passed_over(void **state)
{
	for (size_t n = 0; n < 8 + 4 + 24 + 7; n++) {
		struct features *f = make();

		read_build_id(f, PERF_RECORD_MISC_USER, 0);
		assert_int_equal(features_read_build_id(f, (void *)bytes.data, n), 0);
		assert_int_equal(f->n_build_ids, 1);
		features_done(f);
	}
}

static void test_the_depth_of_the_hardware(void **state)
{
	static const unsigned int sections[] = { FEATURE_CPU_PMU_CAPS, FEATURE_PMU_CAPS };

	for (size_t i = 0; i < 2; i++) {
		struct features *f = make();

		if (sections[i] == FEATURE_PMU_CAPS)
			put_u32(&bytes, 1);
		put_u32(&bytes, 2);
		put_feature_string("max_precise");
		put_feature_string("3");
		put_feature_string("branches");
		put_feature_string("16");
		put_feature_string("cpu");
		read_section(f, sections[i], bytes.n);
		assert_int_equal(f->depth, 16);
		features_done(f);
	}
}

/* Sections describe and do not count: one cut off anywhere, or lying of its lengths, is no fault.
 */
static void test_sections_cut_off_and_lying(void **state)
{
	static const unsigned int sections[] = { FEATURE_BUILD_ID,     FEATURE_HOSTNAME,
						 FEATURE_NRCPUS,       FEATURE_EVENT_DESC,
						 FEATURE_CPU_PMU_CAPS, FEATURE_PMU_CAPS,
						 FEATURE_CPUID,        N_FEATURES - 1 };
	static const uint32_t lies[] = { 0, 1, 63, 64, 1u << 31, UINT32_MAX };

	for (size_t i = 0; i < 8; i++) {
		for (size_t n = 0; n < 300; n += 3) {
			struct features *f = make();

			for (size_t k = 0; k < 75; k++)
				put_u32(&bytes, lies[(k + n) % 6]);
			read_section(f, sections[i], n);
			features_done(f);
		}
	}
}

static void test_names_of_events_and_their_ids(void **state)
{
	static const uint64_t ids[] = { 7, 8 };
	struct features *f = make();
	uint64_t id;

	put_u32(&bytes, 1);
	put_u32(&bytes, 5); /* bytes of an attr; nothing says they keep what follows straight */
	put(&bytes, "attr!", 5);
	put_u32(&bytes, 2);
	put_feature_string("cycles:pp");
	put(&bytes, ids, sizeof(ids));
	assert_int_equal(features_read(f, FEATURE_EVENT_DESC, bytes.data, bytes.n), 0);
	assert_int_equal(f->n_names, 1);
	assert_string_equal(f->names[0].name, "cycles:pp");
	assert_int_equal(f->names[0].n_ids, 2);
	memcpy(&id, (const char *)f->names[0].ids + 8, 8);
	assert_int_equal(id, 8);
	features_done(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_ids_with_and_without_their_size),
		cmocka_unit_test(test_a_build_id_cut_off_is_passed_over),
		cmocka_unit_test(test_the_depth_of_the_hardware),
		cmocka_unit_test(test_sections_cut_off_and_lying),
		cmocka_unit_test(test_names_of_events_and_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
