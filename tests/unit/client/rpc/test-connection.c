/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client against servers with invalid answers of all kinds: a one-line fault each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/util/macro.h"

#define MANY 100000

/* What a server does with the one connection that it takes. */
enum behaviour {
	ANSWERS,     /* sends the bytes after the call, and waits */
	CLOSES,      /* sends them, and closes */
	TRICKLES,    /* sends them one by one */
	NEVER_READS, /* sends them without waiting for a call */
	SENDS_MANY,  /* sends them again and again, until the client closes */
};

struct fake {
	char folder[32], path[64];
	int fd;
	pthread_t thread;
	enum behaviour behaviour;
	const char *bytes;
	size_t n_bytes;
	char call[4096]; /* the first bytes received */
};

static void send_bytes(int fd, const char *bytes, size_t n, bool one_by_one)
{
	size_t step = one_by_one ? 1 : n;

	for (size_t i = 0; i < n; i += step) {
		ssize_t sent = send(fd, bytes + i, step, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
	}
}

static void *serve(void *userdata)
{
	struct fake *fake = userdata;
	int fd = accept(fake->fd, NULL, NULL);
	char rest[256];

	if (fd < 0)
		return NULL;
	if (fake->behaviour != NEVER_READS &&
	    recv(fd, fake->call, sizeof(fake->call) - 1, 0) <= 0) {
		close(fd);
		return NULL;
	}
	send_bytes(fd, fake->bytes, fake->n_bytes, fake->behaviour == TRICKLES);
	while (fake->behaviour == SENDS_MANY &&
	       send(fd, fake->bytes, fake->n_bytes, MSG_NOSIGNAL) > 0)
		;
	if (fake->behaviour == ANSWERS || fake->behaviour == TRICKLES)
		while (recv(fd, rest, sizeof(rest), 0) > 0)
			;
	close(fd);
	return NULL;
}

static void start(struct fake *fake, enum behaviour behaviour, const char *bytes, size_t n_bytes)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*fake = (struct fake){
		.folder = "/tmp/test-connection-XXXXXX",
		.behaviour = behaviour,
		.bytes = bytes,
		.n_bytes = n_bytes,
	};
	assert_non_null(mkdtemp(fake->folder));
	snprintf(fake->path, sizeof(fake->path), "%s/s", fake->folder);
	strcpy(address.sun_path, fake->path);
	fake->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(bind(fake->fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	assert_true(listen(fake->fd, 1) == 0);
	assert_int_equal(pthread_create(&fake->thread, NULL, serve, fake), 0);
}

static void stop(struct fake *fake)
{
	shutdown(fake->fd, SHUT_RDWR);
	pthread_join(fake->thread, NULL);
	close(fake->fd);
	unlink(fake->path);
	rmdir(fake->folder);
}

static bool is_one_line(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

/* The result of a call to such a server; *@fault is one line where it failed. */
static int call_within(unsigned int timeout_ms, enum behaviour behaviour, const char *bytes,
		       size_t n_bytes, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct fake fake;
	struct answer answer;
	int r;

	start(&fake, behaviour, bytes, n_bytes);
	fault->text[0] = '\0';
	assert_int_equal(connection_open(&connection, fake.path, fault), 0);
	connection_set_timeout(connection, timeout_ms);
	r = connection_call(connection, "io.branchd.Test", json_pack("{s:i}", "x", 1), &answer,
			    fault);
	if (r < 0)
		assert_true(is_one_line(fault->text));
	connection = connection_free(connection);
	stop(&fake);
	return r;
}

static int call(enum behaviour behaviour, const char *bytes, size_t n_bytes, struct fault *fault)
{
	return call_within(60000, behaviour, bytes, n_bytes, fault);
}

#define CALL(behaviour, text, fault) call(behaviour, text, sizeof(text), fault)

static void test_a_valid_answer(void **state)
{
	static const char answers[] = "{\"parameters\": {\"y\": [2]}}";
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct fake fake;
	struct answer answer;
	struct fault fault;

	start(&fake, TRICKLES, answers, sizeof(answers));
	assert_int_equal(connection_open(&connection, fake.path, &fault), 0);
	assert_int_equal(connection_call(connection, "io.branchd.Test", json_pack("{s:i}", "x", 1),
					 &answer, &fault),
			 0);
	assert_int_equal(answer.n_bytes, strlen("{\"y\": [2]}"));
	assert_memory_equal(answer.text, "{\"y\": [2]}", answer.n_bytes);
	assert_false(answer.continues);
	assert_string_equal(fake.call, "{\"method\":\"io.branchd.Test\",\"parameters\":{\"x\":1}}");
	connection = connection_free(connection);
	stop(&fake);
}

static void test_answers_without_parameters(void **state)
{
	struct fault fault;

	assert_int_equal(CALL(ANSWERS, "{}", &fault), 0);
	assert_int_equal(CALL(ANSWERS, "{\"parameters\": null, \"other\": [1]}", &fault), 0);
	assert_int_equal(CALL(CLOSES, "{\"continues\": false}", &fault), 0);
}

static void test_invalid_answers(void **state)
{
	static const char *const texts[] = {
		"",
		"garbage",
		"[]",
		"{\"parameters\": 1}",
		"{\"parameters\": [}]",
		"{\"parameters\": \"x\"}",
		"{\"error\": 5}",
		"{\"parameters\": {}, \"continues\": true}",
		"HTTP/1.1 400 Bad Request\r\n\r\n",
		"{{{{{{{{",
		"\033[2J",
	};
	struct fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(call(ANSWERS, texts[i], strlen(texts[i]) + 1, &fault), -EBADMSG);
	assert_non_null(strstr(fault.text, "not branchd"));
}

static void test_random_bytes(void **state)
{
	char bytes[512];
	struct fault fault;
	uint32_t seed = 1;

	for (int i = 0; i < 100; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1664525 + 1013904223;
			bytes[k] = (char)(seed >> 24);
		}
		bytes[sizeof(bytes) - 1] = '\0';
		assert_int_equal(call(CLOSES, bytes, sizeof(bytes), &fault), -EBADMSG);
	}
}

static void test_half_an_answer(void **state)
{
	const char half[] = "{\"parameters\": {\"y\"";
	struct fault fault;

	assert_int_equal(call(CLOSES, half, strlen(half), &fault), -ECONNRESET);
	assert_int_equal(call_within(200, ANSWERS, half, strlen(half), &fault), -ETIMEDOUT);
	assert_int_equal(call(CLOSES, half, 0, &fault), -ECONNRESET);
	assert_int_equal(call_within(200, ANSWERS, half, 0, &fault), -ETIMEDOUT);
}

static void test_answers_before_the_call(void **state)
{
	struct fault fault;
	int r = CALL(NEVER_READS, "{\"parameters\": {}}", &fault);

	/* at the time of the call it may have closed */
	assert_true(r == 0 || r == -ECONNRESET);
}

static void test_an_endless_stream_of_answers(void **state)
{
	struct fault fault;

	assert_int_equal(CALL(SENDS_MANY, "{\"parameters\": {}}", &fault), 0);
}

static void test_errors_are_reported(void **state)
{
	struct fault fault;

	assert_int_equal(CALL(ANSWERS, "{\"error\": \"io.branchd.Odd\"}", &fault), -EREMOTEIO);
	assert_non_null(strstr(fault.text, "io.branchd.Odd"));
	assert_int_equal(CALL(ANSWERS,
			      "{\"error\": \"a\033[2J\x9b\", \"parameters\": {\"b\": \"\n\"}}",
			      &fault),
			 -EREMOTEIO);
	assert_non_null(strstr(fault.text, "a?[2J?"));
}

static void test_a_long_error_is_truncated(void **state)
{
	char *text = malloc(MANY);
	struct fault fault;

	assert_non_null(text);
	memset(text, 'x', MANY);
	memcpy(text, "{\"error\": \"", 11);
	memcpy(text + MANY - 3, "\"}", 3);
	assert_int_equal(call(ANSWERS, text, MANY, &fault), -EREMOTEIO);
	free(text);
}

static void test_a_long_answer_comes_whole(void **state)
{
	size_t n = 20 << 20;
	char *text = malloc(n);
	struct fault fault;

	assert_non_null(text);
	memset(text, ' ', n);
	memcpy(text, "{\"parameters\": {", 16);
	memcpy(text + n - 3, "}}", 3);
	assert_int_equal(call(ANSWERS, text, n, &fault), 0);
	free(text);
}

static void test_no_daemon_is_a_line_that_says_what_to_do(void **state)
{
	struct connection *connection;
	char path[200] = "/tmp/test-connection-none";
	struct fault fault;

	assert_int_equal(connection_open(&connection, path, &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "systemctl start branchd"));
	memset(path, 'x', sizeof(path) - 1);
	assert_int_equal(connection_open(&connection, path, &fault), -ENAMETOOLONG);
	assert_true(is_one_line(fault.text));
}

static void test_a_socket_that_nobody_serves(void **state)
{
	struct connection *connection;
	struct fault fault;
	struct fake fake;

	start(&fake, ANSWERS, "", 0);
	shutdown(fake.fd, SHUT_RDWR);
	pthread_join(fake.thread, NULL);
	close(fake.fd);
	assert_int_equal(connection_open(&connection, fake.path, &fault), -ECONNREFUSED);
	assert_non_null(strstr(fault.text, "systemctl start branchd"));
	unlink(fake.path);
	rmdir(fake.folder);
}

/* Answers of the right frame with anything in it, to the methods. */
static int list(const char *answer, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	struct fake fake;
	int r;

	start(&fake, CLOSES, answer, strlen(answer) + 1);
	assert_int_equal(connection_open(&connection, fake.path, fault), 0);
	r = daemon_api_list_windows(connection, 5, UINT64_MAX, 0, &windows, fault);
	stop(&fake);
	return r;
}

#define WINDOW                                                                         \
	"{\"id\": 1, \"start_us\": 5, \"length_us\": 5, \"samples\": 5, \"lost\": 5, " \
	"\"open\": false, \"mode\": \"software\", \"later\": {}}"

static void test_windows_are_checked(void **state)
{
	static const char *const bad[] = {
		"{\"parameters\": {}}",
		"{\"parameters\": {\"windows\": {}}}",
		"{\"parameters\": {\"windows\": [1]}}",
		"{\"parameters\": {\"windows\": [" WINDOW ", {\"id\": 1}]}}",
		"{\"parameters\": {\"windows\": [{\"id\": -1, \"start_us\": 5, \"length_us\": 5, "
		"\"samples\": 5, \"lost\": 5, \"open\": false, \"mode\": \"software\"}]}}",
		"{\"parameters\": {\"windows\": [{\"id\": 1, \"start_us\": 9223372036854775807, "
		"\"length_us\": 5, \"samples\": 5, \"lost\": 5, \"open\": false, \"mode\": "
		"\"\"}]}}",
	};
	struct fault fault;

	assert_int_equal(list("{\"parameters\": {\"windows\": []}}", &fault), 0);
	assert_int_equal(list("{\"parameters\": {\"windows\": [" WINDOW "]}}", &fault), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(list(bad[i], &fault), -EBADMSG);
		assert_true(is_one_line(fault.text));
	}
}

static int get_profile(const char *answer, struct fault *fault)
{
	const struct daemon_api_request request = { .first = 1 };
	_cleanup_(connection_freep) struct connection *connection = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct fake fake;
	int r;

	start(&fake, CLOSES, answer, strlen(answer) + 1);
	assert_int_equal(connection_open(&connection, fake.path, fault), 0);
	r = daemon_api_get_profile(connection, &request, &profile, &windows, fault);
	stop(&fake);
	return r;
}

static void test_profiles_are_checked(void **state)
{
	struct fault fault;

	assert_int_equal(get_profile("{\"parameters\": {\"windows\": []}}", &fault), -EBADMSG);
	assert_int_equal(
		get_profile("{\"parameters\": {\"windows\": [], \"profile\": {}}}", &fault),
		-EBADMSG);
	assert_int_equal(get_profile("{\"error\": \"io.branchd.NoSuchWindow\"}", &fault), -ENOENT);
	assert_int_equal(get_profile("{\"error\": \"io.branchd.TooLarge\"}", &fault), -EMSGSIZE);
	assert_int_equal(get_profile("{\"error\": \"io.branchd.NotSampling\", \"parameters\": "
				     "{\"reason\": \"no BTF\"}}",
				     &fault),
			 -EAGAIN);
	assert_non_null(strstr(fault.text, "no BTF"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_valid_answer),
		cmocka_unit_test(test_answers_without_parameters),
		cmocka_unit_test(test_invalid_answers),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_half_an_answer),
		cmocka_unit_test(test_answers_before_the_call),
		cmocka_unit_test(test_an_endless_stream_of_answers),
		cmocka_unit_test(test_errors_are_reported),
		cmocka_unit_test(test_a_long_error_is_truncated),
		cmocka_unit_test(test_a_long_answer_comes_whole),
		cmocka_unit_test(test_no_daemon_is_a_line_that_says_what_to_do),
		cmocka_unit_test(test_a_socket_that_nobody_serves),
		cmocka_unit_test(test_windows_are_checked),
		cmocka_unit_test(test_profiles_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
