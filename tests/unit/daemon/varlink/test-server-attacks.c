/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers who stall, vanish, send halves and nonsense, and are too many. After and during each the
 * server answers an honest caller, and quickly: no turn of its loop may take long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "tests/support/attacked-service.h"

#define MANY 1000

static void half_messages(void **state)
{
	struct service service;
	struct caller callers[20];

	service_init(&service);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		callers[i] = connect_caller(&service);
		caller_send(&callers[i], "{\"method\":\"io.test.Echo", i + 1);
	}
	assert_honest_is_answered(&service);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		assert_true(caller_is_closed(&callers[i], 10000));
	assert_int_equal(counts(&service).stalled, ARRAY_SIZE(callers));
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		caller_done(&callers[i]);
	/* who says nothing is not in the midst of a message */
	assert_honest_is_answered(&service);
	service_done(&service);
}

/* A byte now and then does not make it last. */
static void a_message_that_never_ends(void **state)
{
	struct service service;
	struct caller caller;
	uint64_t start = now_ms();

	service_init(&service);
	caller = connect_caller(&service);
	while (!caller_is_closed(&caller, 20) && now_ms() < start + 10000)
		caller_send(&caller, " ", 1);
	assert_true(caller.closed);
	assert_int_equal(counts(&service).stalled, 1);
	caller_done(&caller);
	assert_honest_is_answered(&service);
	service_done(&service);
}

static void a_hundred_mebibytes(void **state)
{
	static char bytes[1 << 20];
	struct service service;
	struct caller caller;
	size_t before, n = 0;

	service_init(&service);
	memset(bytes, 'x', sizeof(bytes));
	before = mallinfo2().uordblks;
	for (int round = 0; round < 2; round++) {
		caller = connect_caller(&service);
		for (n = 0; n < 100 && !caller.closed; n++)
			caller_send(&caller, bytes, sizeof(bytes));
		assert_true(caller.closed); /* long before its end */
		assert_true(n < 3);
		assert_int_equal(counts(&service).too_long, round + 1);
		assert_honest_is_answered(&service);
		caller_done(&caller);
	}
	assert_true(mallinfo2().uordblks < before + (256 << 10));
	service_done(&service);
}

/* The longest call there may be, and one byte more. */
static void the_longest_call(void **state)
{
	struct service service;
	struct caller caller;
	char *text = malloc((64 << 10) + 2);
	int n;

	service_init(&service);
	for (int more = 0; more < 2; more++) {
		caller = connect_caller(&service);
		memset(text, 'x', (64 << 10) + 2);
		n = sprintf(text, "{\"method\":\"io.test.Echo\",\"parameters\":{\"t\":\"");
		text[n] = 'x';
		memcpy(text + (64 << 10) + more - 3, "\"}}", 4);
		caller_say(&caller, text);
		if (more == 0)
			assert_non_null(caller_hear(&caller));
		else
			assert_true(caller_is_closed(&caller, 5000));
		caller_done(&caller);
	}
	assert_int_equal(counts(&service).too_long, 1);
	free(text);
	service_done(&service);
}

static void a_thousand_connections(void **state)
{
	static int fds[MANY];
	struct rlimit limit;
	struct service service;
	unsigned int n_closed = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)4 * MANY);
	setrlimit(RLIMIT_NOFILE, &limit);
	service_init(&service);
	for (int i = 0; i < MANY; i++) {
		fds[i] = connect_socket(&service);
		if (i % 50 == 0)
			assert_honest_is_answered(&service);
		caller_run(service.event, 0);
	}
	assert_honest_is_answered(&service);
	assert_int_equal(counts(&service).open, 128);
	assert_int_equal(counts(&service).refused_connections, MANY - 127);
	for (int i = 0; i < MANY; i++) {
		char byte;

		n_closed += fds[i] >= 0 && recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
	}
	assert_int_equal(n_closed, MANY - 127);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	caller_run(service.event, 1000);
	/* and there is room again */
	fds[0] = connect_socket(&service);
	caller_run(service.event, 1000);
	assert_int_equal(counts(&service).open, 2);
	close(fds[0]);
	service_done(&service);
}

/* One unprivileged user cannot take the places of the others. */
static void connections_of_one_user(void **state)
{
	struct service service;
	int ends[40];

	if (geteuid() != 0) {
		print_message("not root: callers of other users are left out\n");
		return;
	}
	service_init(&service);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		int fds[2], r;

		assert_int_equal(seteuid(i < 20 ? 12345 : 12346), 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		assert_int_equal(seteuid(0), 0);
		r = server_add_connection(service.server, fds[0]);
		assert_int_equal(r, i % 20 < 16 ? 0 : -EUSERS);
		ends[i] = fds[1];
	}
	assert_int_equal(counts(&service).open, 33);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		close(ends[i]);
	service_done(&service);
}

static void without_descriptors(void **state)
{
	struct rlimit limit, low;
	struct service service;
	struct caller late;
	unsigned int n = 0;
	int fds[8], fd;

	service_init(&service);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_socket(&service);
		assert_true(fds[i] >= 0);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	fd = dup(0);
	close(fd);
	low = limit;
	low.rlim_cur = (rlim_t)fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	/* it may not turn in circles: the loop has nothing to do */
	for (uint64_t start = now_ms(); now_ms() < start + 200; n++)
		sd_event_run(service.event, 50000);
	assert_true(n < 50);
	assert_honest_is_answered(&service);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	caller_init(&late, service.event, connect_socket(&service));
	caller_say(&late, "{\"method\":\"io.test.Echo\"}");
	assert_non_null(caller_hear(&late));
	caller_done(&late);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	service_done(&service);
}

static void nonsense(void **state)
{
	static const char *const words[] = {
		"",
		" ",
		"nonsense",
		"{}",
		"[]",
		"1",
		"null",
		"{\"method\":1}",
		"{\"method\":null}",
		"{\"method\":\"io.test.Echo\",\"parameters\":[]}",
		"{\"method\":\"io.test.Echo\",\"parameters\":1}",
		"{\"method\":\"io.test.Echo\",\"more\":1}",
		"{\"method\":\"io.test.Echo\",\"oneway\":\"yes\"}",
		"{\"method\":\"io.test.Echo\",\"upgrade\":[]}",
		"{\"method\":\"io.test.Echo\"",
		"{\"method\":\"io.test.Echo\"}{\"method\":\"io.test.Echo\"}",
		"{\"method\":\"io.test.Echo\",\"method\":\"io.test.Echo\"}",
		"{\"method\":\"io.test.\\u0000\"}",
		"{\"method\":\"\xff\xfe\"}",
		"{\"method\":\"io.test.Echo\",\"parameters\":{\"a\":1e999}}",
		"\xef\xbb\xbf{\"method\":\"io.test.Echo\"}",
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
	};
	struct service service;
	struct caller caller;

	service_init(&service);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		caller = connect_caller(&service);
		caller_say(&caller, words[i]);
		/* what follows is not read any more */
		caller_say(&caller, "{\"method\":\"io.test.Echo\"}");
		if (!caller_is_closed(&caller, 5000))
			fail_msg("not closed: %s", words[i]);
		caller_done(&caller);
		assert_int_equal(counts(&service).not_understood, i + 1);
	}
	assert_honest_is_answered(&service);
	service_done(&service);
}

static void depth(void **state)
{
	static char text[60000];
	struct service service;
	struct caller caller;
	int n;

	service_init(&service);
	caller = connect_caller(&service);
	memset(text, '[', sizeof(text) - 1);
	n = sprintf(text, "{\"method\":\"io.test.Echo\",\"parameters\":{\"a\":");
	text[n] = '[';
	caller_say(&caller, text);
	assert_true(caller_is_closed(&caller, 5000));
	caller_done(&caller);
	assert_honest_is_answered(&service);
	service_done(&service);
}

static void random_bytes(void **state)
{
	struct service service;
	struct caller caller;
	char bytes[256];

	srandom(7);
	service_init(&service);
	for (int round = 0; round < 500; round++) {
		static const char alphabet[] = "{}[]\":,0\0\\ue1 mthod\xff";

		caller = connect_caller(&service);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = round % 2 ? alphabet[(size_t)random() % (sizeof(alphabet) - 1)] :
					       (char)random();
		caller_send(&caller, bytes, (size_t)random() % sizeof(bytes));
		caller_run(service.event, 0);
		caller_done(&caller);
	}
	assert_honest_is_answered(&service);
	service_done(&service);
}

/* Callers who go at once, with a call sent and a large reply on its way. */
static void disappearing(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	for (int round = 0; round < 300; round++) {
		caller = connect_caller(&service);
		caller_say(&caller,
			   "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":1000000}}");
		caller_say(&caller, "{\"method\":\"io.test.Echo\"}");
		if (round % 3 > 0)
			caller_run(service.event, 0);
		if (round % 3 > 1)
			caller_receive(&caller);
		caller_done(&caller);
		if (round % 20 == 0)
			assert_honest_is_answered(&service);
	}
	assert_honest_is_answered(&service);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_messages),
		cmocka_unit_test(a_message_that_never_ends),
		cmocka_unit_test(a_hundred_mebibytes),
		cmocka_unit_test(the_longest_call),
		cmocka_unit_test(a_thousand_connections),
		cmocka_unit_test(connections_of_one_user),
		cmocka_unit_test(without_descriptors),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(depth),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(disappearing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
