/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the decoder: a record in memory, and decoders of given sources. After cmocka.h. */
#pragma once

#include "common/record/decoder.h"
#include "tests/perfdata/bytes.h"

#define ALL_FIELDS      ((1ull << 25) - 1) /* of sample_type that Linux 6.1 knows */
#define BRANCH_COUNTERS (1ull << 19)       /* newer than some headers */

static struct bytes bytes; /* too big for the stack */

static inline struct decoder *make_decoder(const struct perf_event_attr *attr)
{
	struct decoder *d = NULL;
	struct fault fault;

	assert_int_equal(decoder_new(&d), 0);
	assert_int_equal(decoder_add_source(d, attr, NULL, 0, &fault), 0);
	return d;
}

static inline void add_source(struct decoder *d, uint64_t type, uint64_t id, int expected)
{
	struct perf_event_attr attr = { .sample_type = type, .sample_id_all = 1 };
	struct fault fault;

	assert_int_equal(decoder_add_source(d, &attr, &id, 1, &fault), expected);
}

static inline void decode_ok(const struct decoder *d, struct event *e)
{
	struct fault fault;

	assert_int_equal(decoder_decode(d, end_record(&bytes), e, &fault), 0);
}
