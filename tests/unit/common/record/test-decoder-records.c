/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder on all records that are no samples, and on the trailers they carry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/decoder-fixture.h"

/* All that sample_id_all may add to a record. */
#define TRAILER                                                                        \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static void put_trailer(uint64_t t)
{
	if (t & PERF_SAMPLE_TID) {
		put_u32(&bytes, 200);
		put_u32(&bytes, 201);
	}
	if (t & PERF_SAMPLE_TIME)
		put_u64(&bytes, 54321);
	if (t & PERF_SAMPLE_ID)
		put_u64(&bytes, 20);
	if (t & PERF_SAMPLE_STREAM_ID)
		put_u64(&bytes, 0x57);
	if (t & PERF_SAMPLE_CPU) {
		put_u32(&bytes, 7);
		put_u32(&bytes, 0xbad);
	}
	if (t & PERF_SAMPLE_IDENTIFIER)
		put_u64(&bytes, 20);
}

static void check_lost_with_trailer(uint64_t t)
{
	struct decoder *d = NULL;
	struct fault fault;
	struct event e;
	uint64_t time = 0;

	assert_int_equal(decoder_new(&d), 0);
	add_source(d, t, 10, 0);
	add_source(d, t, 20, 0);
	begin_record(&bytes, PERF_RECORD_LOST, 0);
	put_u64(&bytes, 20);
	put_u64(&bytes, 5);
	put_trailer(t);
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), 0);
	assert_int_equal(e.kind, EVENT_LOST);
	assert_int_equal(e.lost.n, 5);
	assert_int_equal(e.source, t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 1 : 0);
	assert_int_equal(e.pid, t & PERF_SAMPLE_TID ? 200 : -1);
	assert_int_equal(e.tid, t & PERF_SAMPLE_TID ? 201 : -1);
	assert_int_equal(e.cpu, t & PERF_SAMPLE_CPU ? 7 : UINT32_MAX);
	assert_int_equal(e.time_ns, t & PERF_SAMPLE_TIME ? 54321 : 0);
	assert_int_equal(decoder_time(d, (void *)bytes.data, &time), !!(t & PERF_SAMPLE_TIME));
	assert_int_equal(time, t & PERF_SAMPLE_TIME ? 54321 : 0);
	decoder_free(d);
}

static void test_the_trailer_of_any_mixture(void **state)
{
	uint64_t t = 0;

	do {
		check_lost_with_trailer(t);
		t = (t - TRAILER) & TRAILER; /* the next subset */
	} while (t != 0);
}

/* No cut of the record in @bytes may pass for a whole one. */
static void check_cuts(const struct decoder *d, size_t n_least)
{
	struct perf_event_header *record = (void *)bytes.data;
	uint16_t size = record->size;
	struct fault fault;
	struct event e;

	for (uint16_t n = sizeof(*record); n < n_least; n++) {
		record->size = n;
		assert_int_equal(decoder_decode(d, record, &e, &fault), -EBADMSG);
	}
	record->size = size;
}

static struct decoder *make_mapping_decoder(bool build_id)
{
	struct perf_event_attr attr = {
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.build_id = build_id,
	};

	return make_decoder(&attr);
}

static struct decoder *make_task_decoder(void)
{
	return make_mapping_decoder(false);
}

static void put_task_trailer(void)
{
	put_trailer(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
}

static void begin_mapping(uint32_t type, uint16_t misc, uint32_t pid)
{
	begin_record(&bytes, type, misc);
	put_u32(&bytes, pid);
	put_u32(&bytes, 43);
	put_u64(&bytes, 0x400000);
	put_u64(&bytes, 0x1000);
	put_u64(&bytes, 0x2000);
}

static void test_mmap(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	begin_mapping(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 42);
	put_string(&bytes, "/usr/bin/x");
	put_task_trailer();
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_MAPPING);
	assert_int_equal(e.pid, 42);
	assert_int_equal(e.tid, 43);
	assert_int_equal(e.cpu, 7);
	assert_int_equal(e.time_ns, 54321);
	assert_int_equal(e.mapping.address, 0x400000);
	assert_int_equal(e.mapping.n_bytes, 0x1000);
	assert_int_equal(e.mapping.file_offset, 0x2000);
	assert_string_equal(e.mapping.path, "/usr/bin/x");
	assert_int_equal(e.mapping.n_build_id, 0);
	assert_true(e.mapping.executable);
	assert_false(e.mapping.kernel);
	check_cuts(d, 8 + 32 + 11 + 24);

	begin_mapping(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, 42);
	put_string(&bytes, "/usr/bin/x");
	put_task_trailer();
	decode_ok(d, &e);
	assert_false(e.mapping.executable);

	begin_mapping(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, UINT32_MAX);
	put_string(&bytes, "[kernel.kallsyms]_text");
	put_task_trailer();
	decode_ok(d, &e);
	assert_true(e.mapping.kernel);
	assert_int_equal(e.pid, -1);
	decoder_free(d);
}

static void put_inode_mapping(uint16_t misc)
{
	begin_mapping(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | misc, 42);
	put_u32(&bytes, 8);
	put_u32(&bytes, 1);
	put_u64(&bytes, 4711);
	put_u64(&bytes, 99);
	put_u32(&bytes, 5); /* read, execute */
	put_u32(&bytes, 2);
	put_string(&bytes, "/usr/lib/libx.so");
	put_task_trailer();
}

static void test_mmap2_by_inode(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	put_inode_mapping(0);
	decode_ok(d, &e);
	assert_int_equal(e.mapping.major, 8);
	assert_int_equal(e.mapping.minor, 1);
	assert_int_equal(e.mapping.inode, 4711);
	assert_int_equal(e.mapping.n_build_id, 0);
	assert_string_equal(e.mapping.path, "/usr/lib/libx.so");
	assert_true(e.mapping.executable);
	check_cuts(d, 8 + 64 + 17 + 24);
	decoder_free(d);
}

static void put_build_id_mapping(uint8_t n, uint32_t protection)
{
	static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

	begin_mapping(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
		      42);
	put_u32(&bytes, n);
	put(&bytes, id, sizeof(id));
	put_u32(&bytes, protection);
	put_u32(&bytes, 2);
	put_string(&bytes, "/usr/lib/libx.so");
	put_task_trailer();
}

/* As the kernel writes it while somebody else's event asks for build-ids. */
static void test_mmap2_by_inode_that_is_marked_as_of_a_build_id(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	put_inode_mapping(PERF_RECORD_MISC_MMAP_BUILD_ID);
	decode_ok(d, &e);
	assert_int_equal(e.mapping.n_build_id, 0);
	assert_int_equal(e.mapping.major, 8);
	assert_int_equal(e.mapping.inode, 4711);
	assert_string_equal(e.mapping.path, "/usr/lib/libx.so");
	decoder_free(d);
}

static void test_mmap2_by_build_id(void **state)
{
	struct decoder *d = make_mapping_decoder(true);
	struct fault fault;
	struct event e;

	put_build_id_mapping(16, 1);
	decode_ok(d, &e);
	assert_int_equal(e.mapping.n_build_id, 16);
	assert_int_equal(e.mapping.build_id[0], 1);
	assert_int_equal(e.mapping.build_id[15], 16);
	assert_int_equal(e.mapping.inode, 0);
	assert_false(e.mapping.executable);
	assert_string_equal(e.mapping.path, "/usr/lib/libx.so");
	put_build_id_mapping(21, 5);
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), -EBADMSG);
	decoder_free(d);
}

static void test_a_path_without_an_end_is_a_fault(void **state)
{
	struct decoder *d = make_task_decoder();
	struct fault fault;
	struct event e;

	begin_mapping(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 42);
	put(&bytes, "/usr/bin", 8);
	put_task_trailer(); /* its zeros are not the string's */
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), -EBADMSG);
	decoder_free(d);
}

static void test_comm(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	for (int exec = 0; exec < 2; exec++) {
		begin_record(&bytes, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		put_u32(&bytes, 42);
		put_u32(&bytes, 43);
		put_string(&bytes, "a name");
		put_task_trailer();
		decode_ok(d, &e);
		assert_int_equal(e.kind, EVENT_COMM);
		assert_int_equal(e.pid, 42);
		assert_int_equal(e.tid, 43);
		assert_string_equal(e.comm.comm, "a name");
		assert_int_equal(e.comm.exec, exec);
		assert_int_equal(e.time_ns, 54321);
		check_cuts(d, 8 + 8 + 7 + 24);
	}
	decoder_free(d);
}

static void test_fork_and_exit(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	for (int exit = 0; exit < 2; exit++) {
		begin_record(&bytes, exit ? PERF_RECORD_EXIT : PERF_RECORD_FORK,
			     exit ? 0 : PERF_RECORD_MISC_FORK_EXEC);
		put_u32(&bytes, 42);
		put_u32(&bytes, 1);
		put_u32(&bytes, 43);
		put_u32(&bytes, 2);
		put_u64(&bytes, 999);
		put_task_trailer();
		decode_ok(d, &e);
		assert_int_equal(e.kind, exit ? EVENT_EXIT : EVENT_FORK);
		assert_int_equal(e.pid, 42);
		assert_int_equal(e.tid, 43);
		assert_int_equal(e.fork.parent_pid, 1);
		assert_int_equal(e.fork.parent_tid, 2);
		assert_int_equal(e.fork.exec, !exit);
		assert_int_equal(e.time_ns, 54321);
		check_cuts(d, 8 + 24 + 24);
	}
	decoder_free(d);
}

static void test_no_task_has_a_negative_number(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	begin_record(&bytes, PERF_RECORD_FORK, 0);
	put_u32(&bytes, 1u << 31);
	put_u32(&bytes, UINT32_MAX - 1);
	put_u32(&bytes, UINT32_MAX);
	put_u32(&bytes, INT32_MAX);
	put_u64(&bytes, 999);
	put_task_trailer();
	decode_ok(d, &e);
	assert_int_equal(e.pid, -1);
	assert_int_equal(e.fork.parent_pid, -1);
	assert_int_equal(e.tid, -1);
	assert_int_equal(e.fork.parent_tid, INT32_MAX);
	decoder_free(d);
}

/* Kernels before 2.6.38 add no trailers, but the record has a time of its own. */
static void test_fork_without_a_trailer(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME };
	struct decoder *d = make_decoder(&attr);
	struct event e;

	begin_record(&bytes, PERF_RECORD_FORK, 0);
	for (uint32_t i = 42; i < 46; i++)
		put_u32(&bytes, i);
	put_u64(&bytes, 999);
	decode_ok(d, &e);
	assert_int_equal(e.time_ns, 999);
	assert_int_equal(e.tid, 44);
	decoder_free(d);
}

static void test_lost_and_throttled(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	begin_record(&bytes, PERF_RECORD_LOST, 0);
	put_u64(&bytes, 1);
	put_u64(&bytes, 17);
	put_task_trailer();
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_LOST);
	assert_int_equal(e.lost.n, 17);
	assert_false(e.lost.samples);
	check_cuts(d, 8 + 16 + 24);

	begin_record(&bytes, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&bytes, 18);
	put_task_trailer();
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_LOST);
	assert_int_equal(e.lost.n, 18);
	assert_true(e.lost.samples);

	for (int on = 0; on < 2; on++) {
		begin_record(&bytes, on ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0);
		for (uint64_t i = 0; i < 3; i++)
			put_u64(&bytes, i);
		put_task_trailer();
		decode_ok(d, &e);
		assert_int_equal(e.kind, on ? EVENT_UNTHROTTLE : EVENT_THROTTLE);
		assert_int_equal(e.pid, 200);
		assert_int_equal(e.cpu, 7);
	}
	decoder_free(d);
}

static void test_ksymbol(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;

	for (uint16_t flags = 0; flags < 2; flags++) {
		begin_record(&bytes, PERF_RECORD_KSYMBOL, 0);
		put_u64(&bytes, 0xffffffffc0001000);
		put_u32(&bytes, 0x99);
		put_u16(&bytes, PERF_RECORD_KSYMBOL_TYPE_BPF);
		put_u16(&bytes, flags);
		put_string(&bytes, "bpf_prog_1234_x");
		put_task_trailer();
		decode_ok(d, &e);
		assert_int_equal(e.kind, EVENT_KSYMBOL);
		assert_int_equal(e.ksymbol.address, 0xffffffffc0001000);
		assert_int_equal(e.ksymbol.n_bytes, 0x99);
		assert_int_equal(e.ksymbol.unregister, flags);
		assert_string_equal(e.ksymbol.name, "bpf_prog_1234_x");
	}
	check_cuts(d, 8 + 16 + 16 + 24);
	decoder_free(d);
}

/* As the kernel writes it to the second of two who listen: the trailer, and then what was there. */
static void test_a_ksymbol_that_the_kernel_made_too_long(void **state)
{
	struct decoder *d = make_task_decoder();
	struct event e;
	uint64_t time;

	begin_record(&bytes, PERF_RECORD_KSYMBOL, 0);
	put_u64(&bytes, 0xffffffffc0001000);
	put_u32(&bytes, 0x99);
	put_u32(&bytes, 1);
	put_string(&bytes, "bpf_prog_1234_x");
	put_task_trailer();
	for (int i = 0; i < 3; i++)
		put_u64(&bytes, 0x6f6d6362696c2f75);
	assert_int_equal(decoder_time(d, end_record(&bytes), &time), 1);
	assert_int_equal(time, 54321);
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_KSYMBOL);
	assert_string_equal(e.ksymbol.name, "bpf_prog_1234_x");
	assert_int_equal(e.time_ns, 54321);
	assert_int_equal(e.cpu, 7);
	decoder_free(d);
}

static void test_before_any_source_there_is_nothing_to_decode(void **state)
{
	struct decoder *d = NULL;
	struct fault fault;
	struct event e;
	uint64_t time;

	assert_int_equal(decoder_new(&d), 0);
	begin_record(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 1);
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), -EBADMSG);
	assert_int_equal(decoder_time(d, (void *)bytes.data, &time), 0);
	decoder_free(d);
}

/* perf takes all bits set for no time, and so does sorting. */
static void test_no_time_is_no_time(void **state)
{
	static const uint64_t none[] = { 0, UINT64_MAX };
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1 };
	struct decoder *d = make_decoder(&attr);
	struct event e;
	uint64_t time;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		begin_record(&bytes, PERF_RECORD_SAMPLE, 0);
		put_u64(&bytes, none[i]);
		decode_ok(d, &e);
		assert_int_equal(e.time_ns, 0);
		assert_int_equal(decoder_time(d, (void *)bytes.data, &time), 0);
		begin_record(&bytes, PERF_RECORD_LOST_SAMPLES, 0);
		put_u64(&bytes, 1);
		put_u64(&bytes, none[i]);
		decode_ok(d, &e);
		assert_int_equal(e.time_ns, 0);
		assert_int_equal(decoder_time(d, (void *)bytes.data, &time), 0);
	}
	decoder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_trailer_of_any_mixture),
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_mmap2_by_inode),
		cmocka_unit_test(test_mmap2_by_inode_that_is_marked_as_of_a_build_id),
		cmocka_unit_test(test_mmap2_by_build_id),
		cmocka_unit_test(test_a_path_without_an_end_is_a_fault),
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_fork_and_exit),
		cmocka_unit_test(test_no_task_has_a_negative_number),
		cmocka_unit_test(test_fork_without_a_trailer),
		cmocka_unit_test(test_lost_and_throttled),
		cmocka_unit_test(test_ksymbol),
		cmocka_unit_test(test_a_ksymbol_that_the_kernel_made_too_long),
		cmocka_unit_test(test_before_any_source_there_is_nothing_to_decode),
		cmocka_unit_test(test_no_time_is_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
