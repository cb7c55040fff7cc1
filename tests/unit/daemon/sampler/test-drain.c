/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rings in memory (tests/benchmark/memory-cpus.h), filled by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/sampler/drain.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "daemon/sampler/cpu-events.h"
#include "tests/benchmark/memory-cpus.h"

#define N_CPUS     64
#define RING_PAGES 128
#define NS_PER_MS  1000000ull
#define NS_PER_S   1000000000ull
/* That wait at most: two slices of each ring and a record more, and what is a millisecond old. */
#define MOST_BYTES (DRAIN_COPIES_BYTES + N_CPUS * (2 + 10) * sizeof(struct record))

/* As the kernel has it with CPU_EVENTS_SAMPLE_TYPE. */
struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[1000]; /* a sample with branch records is as long */
	uint64_t time_ns;
	uint32_t cpu, unused;
};

/* Checks the order of time, and how much is copied at once. */
struct reader {
	uint64_t last_ns, n_bytes, n_records, n_left, most_bytes;
};

static struct decoder *decoder;
static struct drain *drain;
static struct cpus *cpus;
static const struct memory_cpus *machine;
static uint64_t begin_ns;

/* Of all that was written. */
static uint64_t count_copied(void)
{
	uint64_t n = 0;

	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		n += machine->rings[cpu]->data_tail;
	return n;
}

static int on_record(const struct perf_event_header *record, void *userdata)
{
	const struct record *r = (const void *)record;
	struct reader *reader = userdata;

	assert_int_equal(record->size, sizeof(*r));
	assert_true(r->time_ns >= reader->last_ns);
	reader->last_ns = r->time_ns;
	reader->n_records++;
	reader->most_bytes = MAX(reader->most_bytes, count_copied() - reader->n_bytes);
	reader->n_bytes += record->size;
	return 0;
}

static int on_any_record(const struct perf_event_header *record, void *userdata)
{
	struct reader *reader = userdata;

	reader->n_records++;
	return 0;
}

/* The handler of the rings, which stay from test to test. */
static int on_copy(const struct perf_event_header *record, void *userdata)
{
	return drain_add(record, drain);
}

static int set_up(void **state)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = CPU_EVENTS_SAMPLE_TYPE,
		.sample_id_all = 1,
	};
	const struct cpus_settings settings = { .ring_pages = RING_PAGES, .handler = on_copy };
	struct fault fault;

	machine = machine ?: memory_cpus_make(N_CPUS, RING_PAGES);
	assert_non_null(machine);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		machine->rings[cpu]->data_head = machine->rings[cpu]->data_tail = 0;
	assert_int_equal(decoder_new(&decoder), 0);
	assert_int_equal(decoder_add_source(decoder, &attr, NULL, 0, &fault), 0);
	assert_int_equal(drain_new(&drain, N_CPUS, decoder), 0);
	if (!cpus)
		assert_int_equal(cpus_open(&cpus, &settings, &fault), 0);
	begin_ns = clock_ns(CLOCK_MONOTONIC) - 10 * NS_PER_S;
	return 0;
}

/* The rings stay with the machine, as do their descriptors. */
static int tear_down(void **state)
{
	drain = drain_free(drain);
	decoder = decoder_free(decoder);
	return 0;
}

/* Writes a record of @ns after begin_ns. false: the ring is full. */
static bool put(uint32_t cpu, uint64_t ns)
{
	struct perf_event_mmap_page *ring = machine->rings[cpu];
	const struct record record = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(record) },
		.name = "somebody",
		.time_ns = begin_ns + ns,
		.cpu = cpu,
	};
	char *data = (char *)ring + sysconf(_SC_PAGESIZE);

	if (ring->data_head - ring->data_tail + sizeof(record) > machine->ring_bytes)
		return false;
	for (size_t i = 0; i < sizeof(record); i++)
		data[(ring->data_head + i) % machine->ring_bytes] = ((const char *)&record)[i];
	ring->data_head += sizeof(record);
	return true;
}

/* Each ring is full, of records @step_ns[cpu % 2] apart, which began at the same time. */
static uint64_t fill(const uint64_t step_ns[2])
{
	uint64_t n = 0;

	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		for (uint64_t i = 0; put(cpu, i * step_ns[cpu % 2] + cpu); i++)
			n++;
	return n;
}

static void check_full_rings(const uint64_t step_ns[2])
{
	struct reader reader = { 0 };
	uint64_t n = fill(step_ns);

	assert_true(n * sizeof(struct record) > 8 * MOST_BYTES);
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(count_copied(), n * sizeof(struct record));
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, n);
	assert_true(reader.most_bytes <= MOST_BYTES);
	assert_int_equal(drain_n_late(drain), 0);
}

static void test_full_rings_go_out_in_slices(void **state)
{
	check_full_rings((const uint64_t[2]){ 5 * NS_PER_MS, 5 * NS_PER_MS });
}

/* The rings of busy CPUs were full long before those of others: these wait. */
static void test_rings_of_different_pace(void **state)
{
	check_full_rings((const uint64_t[2]){ 5 * NS_PER_MS, NS_PER_MS / 10 });
}

/* One CPU was busy after the other: each ring is full of another time. */
static void test_rings_of_different_times(void **state)
{
	struct reader reader = { 0 };
	uint64_t n = 0;

	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		for (uint64_t i = 0; put(cpu, (cpu * 100 + i / 10) * NS_PER_MS); i++)
			n++;
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(count_copied(), n * sizeof(struct record));
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, n);
	assert_true(reader.most_bytes <= MOST_BYTES);
	assert_int_equal(drain_n_late(drain), 0);
}

/* The last of the first slice is later than all of the next ones, by less than a millisecond. */
static void test_records_after_a_later_one(void **state)
{
	struct reader reader = { 0 };
	size_t last = DRAIN_COPIES_BYTES / 2 / N_CPUS / sizeof(struct record);

	for (uint64_t i = 0; put(0, i == last ? NS_PER_MS * 9 / 10 : i * 1000); i++)
		;
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(drain_n_late(drain), 0);
}

/*
 * A CPU that stood still writes what it has stamped before, while the ring of another one goes out
 * in slices: the number of records that were late. *@ret_in_time: it did not stand still too long.
 */
static uint64_t count_late(bool *ret_in_time)
{
	struct reader reader = { 0 };

	begin_ns = clock_ns(CLOCK_MONOTONIC) - 20 * NS_PER_MS;
	for (uint64_t i = 0; i < 100; i++)
		assert_true(put(0, i * NS_PER_MS / 10));
	for (int i = 0; i < 2; i++) {
		int r = drain_run(drain, cpus, on_any_record, &reader);

		assert_int_equal(r, 0);
		if (i == 0)
			assert_true(put(1, NS_PER_MS / 5));
	}
	*ret_in_time = clock_ns(CLOCK_MONOTONIC) - begin_ns < DRAIN_PATIENCE_NS;
	assert_int_equal(drain_finish(drain, cpus, on_any_record, &reader), 0);
	assert_int_equal(reader.n_records, 101);
	return drain_n_late(drain);
}

/* Little has been copied, so it can wait. A busy machine may take longer: then once more. */
static void test_a_late_record_between_slices(void **state)
{
	bool in_time = false;
	uint64_t before = 0, n_late = 0;

	while (!in_time) {
		before += n_late;
		n_late = count_late(&in_time) - before;
	}
	assert_int_equal(n_late, 0);
}

/* Of a ring that was empty it is known only until when. */
static void test_an_empty_ring(void **state)
{
	struct reader reader = { 0 };

	for (uint64_t i = 0; put(0, (10 + i) * NS_PER_S); i++)
		; /* from now on */
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_true(put(1, 11 * NS_PER_S));
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(drain_n_late(drain), 0);
}

/* Writes into the ring of CPU 1 once it is empty: it has been copied, and waits. */
static int write_behind(const struct perf_event_header *record, void *userdata)
{
	static bool has_written;
	const struct perf_event_mmap_page *ring = machine->rings[1];

	if (!has_written && ring->data_tail == ring->data_head)
		has_written = put(1, 3 * NS_PER_S);
	return on_record(record, userdata);
}

/* A ring that waits and was empty may have more by now. */
static void test_a_ring_that_waits_gets_more(void **state)
{
	struct reader reader = { 0 };

	for (uint64_t i = 0; put(0, (i < 40 ? 0 : 4 * NS_PER_S) + i * NS_PER_MS); i++)
		;
	for (uint64_t i = 0; i < 20; i++)
		assert_true(put(1, NS_PER_S + i * NS_PER_MS));
	assert_int_equal(drain_finish(drain, cpus, write_behind, &reader), 0);
	assert_int_equal(drain_n_late(drain), 0);
}

/* What has just come is not handed on until the other rings have been looked at once more. */
static void test_little_waits_for_a_round(void **state)
{
	struct reader reader = { 0 };

	begin_ns = clock_ns(CLOCK_MONOTONIC) + NS_PER_S; /* however slow the test is */
	assert_true(put(1, 5));
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, 0);
	assert_true(put(0, 3));
	assert_true(put(0, 7));
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, 2);
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, 3);
	assert_int_equal(drain_n_late(drain), 0);
}

/* What came long before goes out at once: after a wait nothing waits for the next one. */
static void test_what_is_old_does_not_wait(void **state)
{
	struct reader reader = { 0 };

	assert_true(put(1, 5));
	assert_true(put(0, 7));
	assert_true(put(0, 20 * NS_PER_S));
	assert_true(put(1, 3 * NS_PER_S));
	assert_int_equal(drain_run(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, 3);
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, 4);
	assert_int_equal(drain_n_late(drain), 0);
}

/* While nothing can be handed on, copies are bounded; the rest follows. */
static void test_copies_while_nothing_goes_out(void **state)
{
	const uint64_t step_ns[2] = { NS_PER_MS, NS_PER_MS };
	struct reader reader = { 0 };
	uint64_t n = 0, copied;

	for (int i = 0; i < 4; i++) {
		n += fill(step_ns);
		begin_ns += NS_PER_S;
		assert_int_equal(drain_copy(drain, cpus), 0);
	}
	copied = count_copied();
	assert_true(copied < 34u << 20);
	assert_true(copied > 30u << 20);
	assert_int_equal(drain_finish(drain, cpus, on_record, &reader), 0);
	assert_int_equal(reader.n_records, n);
}

static int refuse(const struct perf_event_header *record, void *userdata)
{
	return -EIO;
}

static void test_a_refusal_ends_it(void **state)
{
	begin_ns = clock_ns(CLOCK_MONOTONIC) + NS_PER_S;
	assert_true(put(0, 1));
	assert_int_equal(drain_run(drain, cpus, refuse, NULL), 0);
	assert_int_equal(drain_run(drain, cpus, refuse, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_full_rings_go_out_in_slices, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_rings_of_different_pace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rings_of_different_times, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_records_after_a_later_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_late_record_between_slices, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_empty_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_ring_that_waits_gets_more, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_little_waits_for_a_round, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_old_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_while_nothing_goes_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_refusal_ends_it, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
