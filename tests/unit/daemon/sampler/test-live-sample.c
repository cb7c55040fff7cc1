/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the BPF program writes, read; and call chains cut where they lead out of the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "bpf/sample.h"
#include "common/util/macro.h"
#include "daemon/collector/live-callchain.h"
#include "daemon/sampler/live-sample.h"

#define MAX_WORDS 64

/* A sample as it lies in a ring, behind its record's own fields. */
struct written {
	struct bpf_sample head;
	uint64_t words[MAX_WORDS];
};

static struct event event_of(const struct written *w, size_t n_words)
{
	struct event e = { .kind = EVENT_SAMPLE, .cpu = 1, .time_ns = 5 };

	e.sample.raw = &w->head.pid;
	e.sample.n_raw = (uint32_t)(sizeof(w->head) - 4 + 8 * n_words);
	return e;
}

static struct written example(void)
{
	return (struct written){
		.head = { .pid = 100,
			  .tid = 101,
			  .uid = 1000,
			  .ip = 0x401234,
			  .period = 10101010,
			  .cgroup = 77,
			  .hw_idx = 9,
			  .n_callchain = 3,
			  .n_rows = 2,
			  .flags = BPF_SAMPLE_HAS_ROWS | BPF_SAMPLE_HAS_HW_IDX },
		.words = { PERF_CONTEXT_USER, 0x401234, 0x400100, 1, 2, 3, 4, 5, 6 },
	};
}

static void test_whose_it_is(void **state)
{
	struct written w = example();
	struct event e;

	w.head.flags |= BPF_SAMPLE_RESTRICTED;
	e = event_of(&w, 9);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_true(e.sample.restricted && !e.sample.no_memory);
	w.head.flags ^= BPF_SAMPLE_RESTRICTED | BPF_SAMPLE_NO_MEMORY;
	e = event_of(&w, 9);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_true(!e.sample.restricted && e.sample.no_memory);
}

static void test_all_of_it(void **state)
{
	struct written w = example();
	struct event e = event_of(&w, 9);

	assert_int_equal(live_sample_decode(&e), 0);
	assert_int_equal(e.pid, 100);
	assert_int_equal(e.tid, 101);
	assert_int_equal(e.cpu, 1);
	assert_int_equal(e.time_ns, 5);
	assert_int_equal(e.sample.mode, CPU_MODE_USER);
	assert_int_equal(e.sample.ip, 0x401234);
	assert_int_equal(e.sample.period, 10101010);
	assert_int_equal(e.sample.uid, 1000);
	assert_false(e.sample.restricted || e.sample.no_memory);
	assert_int_equal(e.sample.cgroup, 77);
	assert_int_equal(e.sample.n_callchain, 3);
	assert_int_equal(e.sample.callchain[2], 0x400100);
	assert_true(e.sample.has_rows && e.sample.has_hw_idx);
	assert_int_equal(e.sample.hw_idx, 9);
	assert_int_equal(e.sample.n_rows, 2);
	assert_int_equal(e.sample.rows[0].from, 1);
	assert_int_equal(e.sample.rows[1].flags, 6);
}

static void test_a_call_stack_with_rows_left_out(void **state)
{
	struct written w = example();
	struct event e;

	assert_int_equal(w.head.flags & BPF_SAMPLE_CALL_STACK, 0);
	w.head.flags |= BPF_SAMPLE_CALL_STACK;
	w.head.n_zero = 30;
	w.head.n_wrong_path = 7;
	e = event_of(&w, 9);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_true(e.sample.call_stack);
	assert_int_equal(e.sample.n_rows, 2);
	assert_int_equal(e.sample.n_zero, 30);
	assert_int_equal(e.sample.n_wrong_path, 7);
}

static void test_a_stack_alone(void **state)
{
	struct written w = example();
	struct event e;

	w.head.n_rows = 0;
	w.head.flags = 0;
	w.head.ip = 0xffffffff81000000;
	e = event_of(&w, 3);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_int_equal(e.sample.mode, CPU_MODE_KERNEL);
	assert_false(e.sample.has_rows || e.sample.has_hw_idx);
	assert_int_equal(e.sample.n_rows, 0);
}

/* Behind a stack of three words and a branch record of three. */
static void test_registers_and_stack(void **state)
{
	const size_t at = 6, n = at + BPF_SAMPLE_N_REGISTERS + 2;
	struct written w = example();
	struct event e = event_of(&w, n);

	w.head.n_rows = 1;
	w.head.n_stack = 16;
	w.head.flags |= BPF_SAMPLE_REGISTERS;
	for (size_t i = 0; i < BPF_SAMPLE_N_REGISTERS; i++)
		w.words[at + i] = 100 + i;
	memcpy(&w.words[n - 2], "the user's stack", 16);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_int_equal(e.sample.n_callchain, 3);
	assert_int_equal(e.sample.n_rows, 1);
	assert_int_equal(e.sample.user_registers_mask, BPF_SAMPLE_REGISTERS_MASK);
	assert_int_equal(__builtin_popcountll(BPF_SAMPLE_REGISTERS_MASK), BPF_SAMPLE_N_REGISTERS);
	for (size_t i = 0; i < BPF_SAMPLE_N_REGISTERS; i++)
		assert_int_equal(e.sample.user_registers[i], 100 + i);
	assert_false(e.sample.user_is_32_bit);
	assert_int_equal(e.sample.n_user_stack, 16);
	assert_memory_equal(e.sample.user_stack, "the user's stack", 16);

	w.head.flags |= BPF_SAMPLE_32_BIT;
	e = event_of(&w, n);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_true(e.sample.user_is_32_bit);

	/* a stack that has no bytes in memory */
	w.head.n_stack = 0;
	e = event_of(&w, n - 2);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_non_null(e.sample.user_registers);
	assert_int_equal(e.sample.n_user_stack, 0);
}

static void test_registers_and_stack_of_each_length(void **state)
{
	static const uint32_t too_long[] = { 17, 23, 24, 0x8000, 0xfffffff8, UINT32_MAX };
	const size_t n = 9 + BPF_SAMPLE_N_REGISTERS + 2;
	struct written w = example();
	struct event e;

	w.head.n_stack = 16;
	w.head.flags |= BPF_SAMPLE_REGISTERS;
	for (size_t i = 0; i < n; i++) {
		e = event_of(&w, i);
		assert_int_equal(live_sample_decode(&e), -EBADMSG);
	}
	for (size_t i = 0; i < ARRAY_SIZE(too_long); i++) {
		w.head.n_stack = too_long[i];
		e = event_of(&w, n);
		assert_int_equal(live_sample_decode(&e), -EBADMSG);
	}

	/* bytes that are announced, but no registers: none of them are read */
	w.head.flags &= (uint16_t)~BPF_SAMPLE_REGISTERS;
	e = event_of(&w, n);
	assert_int_equal(live_sample_decode(&e), 0);
	assert_null(e.sample.user_registers);
	assert_null(e.sample.user_stack);
	assert_int_equal(e.sample.n_user_stack, 0);
}

static void test_of_each_length(void **state)
{
	struct written w = example();

	for (size_t n = 0; n < 9; n++) {
		struct event e = event_of(&w, n);

		assert_int_equal(live_sample_decode(&e), -EBADMSG);
	}
	for (uint32_t n = 0; n < sizeof(w.head) - 4; n++) {
		struct event e = event_of(&w, 0);

		e.sample.n_raw = n;
		assert_int_equal(live_sample_decode(&e), -EBADMSG);
	}
}

static void map(struct processes *p, uint64_t address)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = 5,
			   .tid = 5,
			   .mapping = { .address = address,
					.n_bytes = 0x1000,
					.path = "/bin/x",
					.executable = true } };

	assert_int_equal(processes_apply(p, &e), 0);
}

/* The number of words left of @chain, @n of them. */
static uint32_t cut(const uint64_t *chain, uint32_t n, bool mapped, bool expected)
{
	struct sample s = { .callchain = chain, .n_callchain = n };
	struct processes *p = NULL;

	assert_int_equal(processes_new(&p), 0);
	if (mapped) {
		map(p, 0x401000);
		map(p, 0x7f0000001000);
	}
	assert_int_equal(live_callchain_truncate(&s, p, processes_find(p, 5)), expected);
	processes_free(p);
	return s.n_callchain;
}

static void test_chains(void **state)
{
	const uint64_t good[] = { PERF_CONTEXT_USER, 0x401234, 0x401100, 0x7f0000001004 };
	const uint64_t bad[] = { PERF_CONTEXT_USER, 0x401234, 0x401100, 0x3f, 0x401100 };
	const uint64_t leaf[] = { PERF_CONTEXT_USER, 0x999999, 0x401100, 0x401200 };
	const uint64_t kernel[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000000, 0xffffffff81000100 };
	const uint64_t both[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000000, 0xffffffff81000100,
				  PERF_CONTEXT_USER,   0x401234,           0x66 };

	assert_int_equal(cut(good, 4, true, false), 4);
	assert_int_equal(cut(bad, 5, true, true), 3);
	assert_int_equal(cut(leaf, 4, true, false), 4); /* wherever it was sampled */
	assert_int_equal(cut(kernel, 3, true, false), 3);
	assert_int_equal(cut(both, 6, true, true), 5);
	assert_int_equal(cut(both, 4, true, false), 4);
	assert_int_equal(cut(bad, 5, false, false), 5); /* nothing is known of the process */
	assert_int_equal(cut(NULL, 0, true, false), 0);
}

/* As deep as the kernel goes: there may be more. */
static void test_deep_chains(void **state)
{
	uint64_t chain[2 + 2 * BPF_SAMPLE_MAX_FRAMES];
	struct sample s = { .callchain = chain };
	uint32_t n = 0;

	chain[n++] = PERF_CONTEXT_KERNEL;
	while (n < BPF_SAMPLE_MAX_FRAMES)
		chain[n++] = 0xffffffff81000000;
	chain[n++] = PERF_CONTEXT_USER;
	while (n < 2 * BPF_SAMPLE_MAX_FRAMES)
		chain[n++] = 0x401000;
	s.n_callchain = n;
	assert_false(live_callchain_is_at_limit(&s));
	chain[n++] = 0x401000;
	s.n_callchain = n;
	assert_true(live_callchain_is_at_limit(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it),
		cmocka_unit_test(test_whose_it_is),
		cmocka_unit_test(test_a_call_stack_with_rows_left_out),
		cmocka_unit_test(test_a_stack_alone),
		cmocka_unit_test(test_registers_and_stack),
		cmocka_unit_test(test_registers_and_stack_of_each_length),
		cmocka_unit_test(test_of_each_length),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_deep_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
