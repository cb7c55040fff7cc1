/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of this process alone, in which the kernel reports each new name of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/sampler/ring.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SKIPPED 77
#define ROUNDS  100
#define NAMES   20 /* in a round; fewer than fit */

/* Of a PERF_RECORD_COMM, and what the sample_type adds. */
struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[16];
	uint64_t ids[3];
};

struct reader {
	unsigned int n_seen;
	int answer;
};

/* The size of a page is no multiple of the size of a record: records wrap around. */
static int open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.comm = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int on_record(const struct perf_event_header *record, void *userdata)
{
	const struct comm *comm = (const void *)record;
	struct reader *reader = userdata;
	char expected[16] = "";

	assert_int_equal(record->type, PERF_RECORD_COMM);
	assert_int_equal(record->size, sizeof(*comm));
	snprintf(expected, sizeof(expected), "name-%08u", reader->n_seen++);
	assert_string_equal(comm->name, expected);
	return reader->answer;
}

static struct ring *new_ring(struct reader *reader)
{
	const struct ring_settings settings = {
		.fd = open_event(),
		.n_pages = 1,
		.handler = on_record,
		.userdata = reader,
	};
	struct ring *ring;

	assert_true(settings.fd >= 0);
	assert_int_equal(ring_open(&ring, &settings), 0);
	assert_int_equal(ring_fd(ring), settings.fd);
	return ring;
}

static void rename_times(unsigned int *n, unsigned int times)
{
	char name[16];

	while (times-- > 0) {
		snprintf(name, sizeof(name), "name-%08u", (*n)++);
		prctl(PR_SET_NAME, name);
	}
}

static void test_records_come_whole_and_in_order(void **state)
{
	struct reader reader = {};
	struct ring *ring = new_ring(&reader);
	unsigned int n = 0;

	static_assert(4096 % sizeof(struct comm) != 0, "no record would wrap around");
	for (int i = 0; i < ROUNDS; i++) {
		rename_times(&n, NAMES);
		assert_int_equal(ring_drain(ring, SIZE_MAX), 0);
		assert_int_equal(reader.n_seen, n);
	}
	ring_free(ring);
}

static void test_an_answer_ends_the_drain(void **state)
{
	struct reader reader = { .answer = -EIO };
	struct ring *ring = new_ring(&reader);
	unsigned int n = 0;

	rename_times(&n, 3);
	assert_int_equal(ring_drain(ring, SIZE_MAX), -EIO);
	assert_int_equal(reader.n_seen, 1);
	reader.answer = 0;
	assert_int_equal(ring_drain(ring, SIZE_MAX), 0);
	assert_int_equal(reader.n_seen, 3);
	assert_int_equal(ring_drain(ring, SIZE_MAX), 0);
	ring_free(ring);
}

static void test_a_descriptor_that_is_no_event(void **state)
{
	const struct ring_settings settings = { .fd = STDIN_FILENO, .n_pages = 1 };
	struct ring *ring = NULL;

	assert_true(ring_open(&ring, &settings) < 0);
	assert_null(ring);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* still the caller's */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_come_whole_and_in_order),
		cmocka_unit_test(test_an_answer_ends_the_drain),
		cmocka_unit_test(test_a_descriptor_that_is_no_event),
	};
	int fd = open_event();

	if (fd < 0) {
		printf("skipped: no events of this process: %s\n", strerror(errno));
		return SKIPPED;
	}
	close(fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
