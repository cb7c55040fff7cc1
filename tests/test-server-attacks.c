/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers who stall, vanish, send halves, floods and nonsense, or do not read. After and during each
 * the server answers an honest caller, and quickly: no turn of its loop may take long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "tests/support/caller.h"

#define PATIENCE_MS  200
#define SLOW_TURN_MS 2000 /* of a valgrind on a busy machine */
#define MANY         1000

struct service {
	sd_event *event;
	struct server *server;
	struct caller honest;
	struct sockaddr_un address;
	char directory[32];
};

static int echo(struct call *call, json_t *parameters, void *userdata)
{
	return call_reply(call, json_incref(parameters), false);
}

/* Large(n): a reply of about n bytes. */
static int large(struct call *call, json_t *parameters, void *userdata)
{
	size_t n = (size_t)json_integer_value(json_object_get(parameters, "n"));
	char *text = malloc(n + 8);
	int r;

	memset(text, 'x', n + 8);
	memcpy(text, "{\"x\":\"", 6);
	memcpy(text + n + 6, "\"}", 2);
	r = call_reply_text(call, text, n + 8, false);
	if (r == -ENOBUFS)
		call_error(call, "io.test.TooLarge", NULL);
	return 0;
}

/* Flood(): replies without end, until no more may wait. */
static int flood(struct call *call, json_t *parameters, void *userdata)
{
	int r = 0;

	while (r == 0) {
		char *text = malloc(10000);

		memset(text, ' ', 10000);
		memcpy(text, "{}", 2);
		r = call_reply_text(call, text, 10000, true);
	}
	call_error(call, "io.test.TooLarge", NULL);
	return 0;
}

static const struct server_method methods[] = {
	{ "io.test.Echo", echo },
	{ "io.test.Large", large },
	{ "io.test.Flood", flood },
};

static int connect_socket(const struct service *service)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&service->address, sizeof(service->address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static struct caller connect_caller(struct service *service)
{
	struct caller caller;
	int fd = connect_socket(service);

	assert_true(fd >= 0);
	caller_init(&caller, service->event, fd);
	caller_run(service->event, 0);
	return caller;
}

static void service_init(struct service *service)
{
	struct server_settings settings = {
		.interface = "io.test",
		.description = "interface io.test\n",
		.methods = methods,
		.n_methods = ARRAY_SIZE(methods),
		.group = (gid_t)-1,
		.max_pending_bytes = 8 << 20,
		.patience_ms = PATIENCE_MS,
	};
	struct fault fault = {};
	int fd;

	*service = (struct service){ .directory = "/tmp/test-attacks-XXXXXX",
				     .address = { .sun_family = AF_UNIX } };
	assert_non_null(mkdtemp(service->directory));
	snprintf(service->address.sun_path, sizeof(service->address.sun_path), "%s/socket",
		 service->directory);
	fd = server_listen(service->address.sun_path, (gid_t)-1, &fault);
	assert_true(fd >= 0);
	assert_true(sd_event_new(&service->event) >= 0);
	assert_int_equal(server_new(&service->server, service->event, fd, &settings, &fault), 0);
	service->honest = connect_caller(service);
}

static struct server_counts counts(const struct service *service)
{
	struct server_counts c;

	server_get_counts(service->server, &c);
	return c;
}

/* Everybody but the honest one is gone, and nothing is left of them. */
static void service_done(struct service *service)
{
	for (int i = 0; i < 100 && counts(service).open > 1; i++)
		caller_run(service->event, 10000);
	assert_int_equal(counts(service).open, 1);
	assert_int_equal(counts(service).pending_bytes, 0);
	caller_done(&service->honest);
	server_free(service->server);
	sd_event_unref(service->event);
	unlink(service->address.sun_path);
	rmdir(service->directory);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void assert_honest_is_answered(struct service *service)
{
	uint64_t start = now_ms();
	const char *reply;

	caller_say(&service->honest, "{\"method\":\"io.test.Echo\",\"parameters\":{\"a\":1}}");
	reply = caller_hear(&service->honest);
	assert_non_null(reply);
	assert_string_equal(reply, "{\"parameters\":{\"a\":1}}");
	assert_true(now_ms() - start < SLOW_TURN_MS);
}

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
		cmocka_unit_test(a_reader_who_does_not_read),
		cmocka_unit_test(a_reader_who_trickles),
		cmocka_unit_test(a_slow_reader),
		cmocka_unit_test(pipelining_without_reading),
		cmocka_unit_test(many_who_do_not_read),
		cmocka_unit_test(a_method_that_floods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
