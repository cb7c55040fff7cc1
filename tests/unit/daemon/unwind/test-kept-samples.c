/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "daemon/unwind/kept-samples.h"

#define MAX_WORDS 8
#define MAX_SEEN  32 /* samples of a test */

/* What a handler does with a sample, and which ones it was given, by their thread. */
struct seen {
	int32_t tids[MAX_SEEN];
	size_t n;
	uint64_t drop; /* a bit for each thread */
	int32_t fail;  /* at this thread */
};

static struct kept_samples *make(size_t max_bytes)
{
	struct kept_samples *samples = NULL;

	assert_int_equal(kept_samples_new(&samples, max_bytes), 0);
	return samples;
}

/* The sizes and contents of a sample's arrays follow from its thread. */
static uint32_t n_words(int32_t tid, uint32_t mod)
{
	return (uint32_t)tid % mod;
}

static uint64_t word(int32_t tid, uint32_t i)
{
	return (uint64_t)tid * 1000 + i;
}

static bool add(struct kept_samples *samples, struct process_context *context, int32_t tid)
{
	uint64_t chain[MAX_WORDS], registers[MAX_WORDS];
	uint8_t stack[MAX_WORDS];
	struct branch_record rows[MAX_WORDS];
	struct event e = {
		.kind = EVENT_SAMPLE,
		.tid = tid,
		.sample = {
			.callchain = chain,
			.n_callchain = n_words(tid, 4),
			.user_registers = registers,
			.user_registers_mask = (1U << n_words(tid, 3)) - 1,
			.user_stack = stack,
			.n_user_stack = n_words(tid, 7), /* no multiple of a word */
			.rows = rows,
			.n_rows = n_words(tid, 2),
			.raw = rows,
			.n_raw = 4,
		},
	};
	bool added;

	for (uint32_t i = 0; i < MAX_WORDS; i++) {
		chain[i] = word(tid, i);
		registers[i] = word(tid, i) + 100;
		stack[i] = (uint8_t)(word(tid, i) + 200);
		rows[i] = (struct branch_record){ word(tid, i), word(tid, i) + 300, 1 };
	}
	added = kept_samples_add(samples, context, &e);
	memset(chain, 0xee, sizeof(chain));
	memset(registers, 0xee, sizeof(registers));
	memset(stack, 0xee, sizeof(stack));
	memset(rows, 0xee, sizeof(rows));
	return added;
}

static void assert_whole(const struct kept_sample *kept)
{
	const struct sample *s = &kept->event.sample;
	int32_t tid = kept->event.tid;

	assert_int_equal(s->n_callchain, n_words(tid, 4));
	for (uint32_t i = 0; i < s->n_callchain; i++)
		assert_int_equal(s->callchain[i], word(tid, i));
	for (uint32_t i = 0; i < n_words(tid, 3); i++)
		assert_int_equal(s->user_registers[i], word(tid, i) + 100);
	assert_int_equal(s->n_user_stack, n_words(tid, 7));
	for (uint32_t i = 0; i < s->n_user_stack; i++)
		assert_int_equal(s->user_stack[i], (uint8_t)(word(tid, i) + 200));
	assert_int_equal(s->n_rows, n_words(tid, 2));
	for (uint32_t i = 0; i < s->n_rows; i++) {
		assert_int_equal(s->rows[i].from, word(tid, i));
		assert_int_equal(s->rows[i].to, word(tid, i) + 300);
	}
	assert_null(s->raw);
}

static int on_sample(const struct kept_sample *kept, void *userdata)
{
	struct seen *seen = userdata;
	int32_t tid = kept->event.tid;

	assert_whole(kept);
	assert_true(seen->n < MAX_SEEN);
	seen->tids[seen->n++] = tid;
	if (tid == seen->fail)
		return -EIO;
	return seen->drop >> tid & 1;
}

static int walk(struct kept_samples *samples, uint64_t drop, int32_t fail, struct seen *ret)
{
	*ret = (struct seen){ .drop = drop, .fail = fail };
	return kept_samples_for_each(samples, on_sample, ret);
}

static void assert_seen(const struct seen *seen, int32_t first, int32_t end, uint64_t without)
{
	size_t n = 0;

	for (int32_t tid = first; tid < end; tid++) {
		if (without >> tid & 1)
			continue;
		assert_true(n < seen->n);
		assert_int_equal(seen->tids[n++], tid);
	}
	assert_int_equal(seen->n, n);
}

static void those_that_stay_keep_their_arrays(void **state)
{
	const uint64_t gone = 1U << 1 | 1U << 4 | 1U << 5 | 1U << 12;
	struct process_context context = { .n_refs = 1 };
	struct kept_samples *samples = make(1 << 20);
	struct seen seen;

	assert_int_equal(kept_samples_count(samples), 0);
	assert_int_equal(walk(samples, 0, 0, &seen), 0);
	assert_int_equal(seen.n, 0);
	for (int32_t tid = 1; tid < 13; tid++)
		assert_true(add(samples, &context, tid));
	assert_int_equal(kept_samples_count(samples), 12);
	assert_int_equal(context.n_refs, 13);
	assert_int_equal(walk(samples, gone, 0, &seen), 0);
	assert_seen(&seen, 1, 13, 0);
	assert_int_equal(kept_samples_count(samples), 8);
	assert_int_equal(context.n_refs, 9);

	/* others come behind them */
	for (int32_t tid = 13; tid < 16; tid++)
		assert_true(add(samples, &context, tid));
	assert_int_equal(walk(samples, 0, 0, &seen), 0);
	assert_seen(&seen, 1, 16, gone);
	assert_int_equal(walk(samples, UINT64_MAX, 0, &seen), 0);
	assert_seen(&seen, 1, 16, gone);
	assert_int_equal(kept_samples_count(samples), 0);
	assert_int_equal(context.n_refs, 1);
	kept_samples_free(samples);
}

static void an_error_ends_the_walk_and_loses_none(void **state)
{
	struct process_context context = { .n_refs = 1 };
	struct kept_samples *samples = make(1 << 20);
	struct seen seen;

	for (int32_t tid = 1; tid < 10; tid++)
		assert_true(add(samples, &context, tid));
	assert_int_equal(walk(samples, UINT64_MAX, 4, &seen), -EIO);
	assert_seen(&seen, 1, 5, 0);
	assert_int_equal(kept_samples_count(samples), 6);
	assert_int_equal(walk(samples, UINT64_MAX, 0, &seen), 0);
	assert_seen(&seen, 4, 10, 0);
	assert_int_equal(context.n_refs, 1);
	kept_samples_free(samples);
}

static void there_is_a_limit_of_bytes(void **state)
{
	/* for two samples that have no arrays, and not quite for a third one */
	const size_t max = 3 * sizeof(struct kept_sample) - 1;
	struct process_context context = { .n_refs = 1 };
	struct kept_samples *samples = make(max);
	struct seen seen;

	assert_true(add(samples, &context, 0));
	assert_true(add(samples, &context, 0));
	assert_false(add(samples, &context, 0));
	assert_int_equal(kept_samples_count(samples), 2);
	assert_int_equal(context.n_refs, 3);
	assert_int_equal(walk(samples, UINT64_MAX, -1, &seen), 0);
	assert_int_equal(seen.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(add(samples, &context, 0));
	kept_samples_free(samples);
	assert_int_equal(context.n_refs, 1);

	/* the arrays count */
	samples = make(sizeof(struct kept_sample) + 8);
	assert_false(add(samples, &context, 2));
	assert_int_equal(context.n_refs, 1);
	kept_samples_free(samples);
	assert_null(kept_samples_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_stay_keep_their_arrays),
		cmocka_unit_test(an_error_ends_the_walk_and_loses_none),
		cmocka_unit_test(there_is_a_limit_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
