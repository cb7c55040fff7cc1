/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Callers who do not read what they asked for, or slowly. Others are answered, and memory does not
 * grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/attacked-service.h"

static void a_reader_who_does_not_read(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":4000000}}");
	caller_run(service.event, 0);
	assert_true(counts(&service).pending_bytes > 3000000);
	assert_honest_is_answered(&service);
	for (int i = 0; i < 1000 && counts(&service).open > 1; i++)
		caller_run(service.event, 10000);
	assert_int_equal(counts(&service).stalled, 1);
	assert_int_equal(counts(&service).pending_bytes, 0);
	caller_done(&caller);
	service_done(&service);
}

/* A few bytes now and then are no progress. */
static void a_reader_who_trickles(void **state)
{
	struct service service;
	struct caller caller;
	uint64_t start = now_ms();
	char bytes[64];

	service_init(&service);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":4000000}}");
	while (counts(&service).stalled == 0 && now_ms() < start + 10000) {
		caller_run(service.event, 10000);
		if (recv(caller.fd, bytes, sizeof(bytes), MSG_DONTWAIT) < 0)
			break;
	}
	assert_int_equal(counts(&service).stalled, 1);
	caller_done(&caller);
	assert_honest_is_answered(&service);
	service_done(&service);
}

/* One who reads slowly, but does read, gets all of it. */
static void a_slow_reader(void **state)
{
	static char bytes[128 << 10];
	struct service service;
	struct caller caller;
	size_t n_all = 0;
	ssize_t n;

	service_init(&service);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":4000000}}");
	for (int i = 0; i < 1000 && n_all < 4000000 + 8 + 16; i++) {
		for (uint64_t start = now_ms(); now_ms() < start + 20;)
			caller_run(service.event, 5000);
		n = recv(caller.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		assert_true(n > 0);
		n_all += (size_t)n;
	}
	assert_int_equal(n_all, 4000000 + 8 + 16);
	assert_int_equal(counts(&service).stalled, 0);
	caller_done(&caller);
	service_done(&service);
}

/* Calls without end from one who reads no replies: no more is taken in than is answered. */
static void pipelining_without_reading(void **state)
{
	static const char text[] = "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":50000}}";
	struct service service;
	struct caller caller;
	size_t n = 0, before;

	service_init(&service);
	before = mallinfo2().uordblks;
	caller = connect_caller(&service);
	for (int i = 0; i < 20000 && n < 100000; i++) {
		size_t sent = caller_send_some(&caller, text, sizeof(text));

		if (sent != sizeof(text))
			break;
		n++;
		if (i % 100 == 0)
			caller_run(service.event, 0);
	}
	caller_run(service.event, 0);
	assert_true(counts(&service).pending_bytes < 256 << 10);
	assert_true(mallinfo2().uordblks < before + (1 << 20));
	assert_honest_is_answered(&service);
	caller_done(&caller);
	service_done(&service);
}

/* Together they may make wait no more than is allowed; the next are told so, and others served. */
static void many_who_do_not_read(void **state)
{
	struct service service;
	struct caller callers[20];
	unsigned int n_told = 0;

	service_init(&service);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		callers[i] = connect_caller(&service);
		caller_say(&callers[i],
			   "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":2000000}}");
		caller_run(service.event, 0);
		assert_true(counts(&service).pending_bytes <= 8 << 20);
		assert_honest_is_answered(&service);
	}
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		char text[64] = "";

		if (recv(callers[i].fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0)
			n_told += strcmp(text, "{\"error\":\"io.test.TooLarge\"}") == 0;
		caller_done(&callers[i]);
	}
	assert_true(n_told > 10);
	assert_int_equal(counts(&service).refused_replies, n_told);
	service_done(&service);
}

static void a_method_that_floods(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Flood\",\"more\":true}");
	caller_run(service.event, 0);
	assert_true(counts(&service).pending_bytes <= (8 << 20) + 4096);
	assert_honest_is_answered(&service);
	caller_done(&caller);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_who_does_not_read),
		cmocka_unit_test(a_reader_who_trickles),
		cmocka_unit_test(a_slow_reader),
		cmocka_unit_test(pipelining_without_reading),
		cmocka_unit_test(many_who_do_not_read),
		cmocka_unit_test(a_method_that_floods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
