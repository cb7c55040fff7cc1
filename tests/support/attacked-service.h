/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A service for tests to attack, with an honest caller who is to be answered all the while. */
#pragma once

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/un.h>
#include <time.h>

#include "daemon/varlink/call.h"
#include "daemon/varlink/server.h"
#include "tests/support/varlink-caller.h"

#define PATIENCE_MS  500
#define SLOW_TURN_MS 2000 /* of CPU time, under valgrind */

struct service {
	sd_event *event;
	struct server *server;
	struct caller honest;
	struct sockaddr_un address;
	char directory[32];
};

static inline int echo(struct call *call, json_t *parameters, void *userdata)
{
	return call_reply(call, json_incref(parameters), false);
}

/* Large(n): a reply of about n bytes. */
static inline int large(struct call *call, json_t *parameters, void *userdata)
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
static inline int flood(struct call *call, json_t *parameters, void *userdata)
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

static inline int connect_socket(const struct service *service)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&service->address, sizeof(service->address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static inline struct caller connect_caller(struct service *service)
{
	struct caller caller;
	int fd = connect_socket(service);

	assert_true(fd >= 0);
	caller_init(&caller, service->event, fd);
	caller_run(service->event, 0);
	return caller;
}

static inline void service_init(struct service *service)
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

static inline struct server_counts counts(const struct service *service)
{
	struct server_counts c;

	server_get_counts(service->server, &c);
	return c;
}

/* Everybody but the honest one is gone, and nothing is left of them. */
static inline void service_done(struct service *service)
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

static inline uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The server and its callers share one thread: what else runs on the machine does not count. */
static inline uint64_t cpu_ms(void)
{
	return (uint64_t)clock() * 1000 / CLOCKS_PER_SEC;
}

static inline void assert_honest_is_answered(struct service *service)
{
	uint64_t start = cpu_ms();
	const char *reply;

	caller_say(&service->honest, "{\"method\":\"io.test.Echo\",\"parameters\":{\"a\":1}}");
	reply = caller_hear(&service->honest);
	assert_non_null(reply);
	assert_string_equal(reply, "{\"parameters\":{\"a\":1}}");
	assert_true(cpu_ms() - start < SLOW_TURN_MS);
}
