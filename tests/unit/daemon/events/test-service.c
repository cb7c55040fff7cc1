/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Both sides of branchd-events, as they are before any privilege is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/events/client.h"
#include "daemon/events/service.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/cleanup.h"

static char directory[] = "/tmp/test-service-XXXXXX";
static int listening = -1;
static unsigned int n_served;

/* Serves connections one after the other. */
static void *serve(void *unused)
{
	int fd;

	while ((fd = accept(listening, NULL, NULL)) >= 0) {
		n_served++;
		service_run(fd);
		close(fd);
	}
	return NULL;
}

static int set_up(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t thread;

	assert_non_null(mkdtemp(directory));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/events", directory);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listening, 8), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
	return pthread_detach(thread);
}

static int tear_down(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", directory);
	unlink(path);
	return rmdir(directory);
}

static int connect_events(struct helpers *helpers)
{
	int fd = helpers_connect(helpers, HELPER_EVENTS);

	assert_true(fd >= 0);
	return fd;
}

static void test_describes_the_machine(void **state)
{
	_cleanup_(events_client_freep) struct events_client *client = NULL;
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct events_machine machine = {};

	assert_int_equal(helpers_new(&helpers, directory), 0);
	assert_int_equal(events_client_new(&client, helpers), 0);
	assert_int_equal(events_client_describe(client, &machine), 0);
	assert_int_equal(machine.n_cpus, sysconf(_SC_NPROCESSORS_CONF));
}

static void test_opens_files_and_no_forbidden_event(void **state)
{
	_cleanup_(events_client_freep) struct events_client *client = NULL;
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_STACK_USER,
		.sample_stack_user = 4096,
	};
	char start[64];
	int fd;

	assert_int_equal(helpers_new(&helpers, directory), 0);
	assert_int_equal(events_client_new(&client, helpers), 0);
	assert_int_equal(events_client_open(client, &attr, 0, -1), -EPERM);
	fd = events_client_open_kallsyms(client);
	assert_true(fd >= 0);
	assert_true(read(fd, start, sizeof(start)) >= 0);
	close(fd);
}

/* The maps of another program, or another file: nothing is written into them. */
static void test_takes_no_other_map(void **state)
{
	_cleanup_(events_client_freep) struct events_client *client = NULL;
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;

	assert_int_equal(helpers_new(&helpers, directory), 0);
	assert_int_equal(events_client_new(&client, helpers), 0);
	assert_int_equal(events_client_refuse(client, STDIN_FILENO, 1), -EPERM);
}

static void test_a_wrong_shape_ends_the_connection(void **state)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	char bytes[EVENTS_MAX_BYTES + 1] = "";
	const struct channel_message wrong[] = {
		{ .type = 0 },
		{ .type = EVENTS_REQUESTS },
		{ .type = UINT32_MAX },
		{ .type = EVENTS_OPEN, .bytes = bytes, .n_bytes = sizeof(struct events_open) - 1 },
		{ .type = EVENTS_LOAD },
		{ .type = EVENTS_DESCRIBE, .bytes = bytes, .n_bytes = 1 },
		{ .type = EVENTS_OPEN_MODULES, .n_fds = 1, .fds = { STDERR_FILENO } },
		{ .type = EVENTS_LOAD, .bytes = bytes, .n_bytes = sizeof(bytes) },
	};

	assert_int_equal(helpers_new(&helpers, directory), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		_cleanup_close_ int fd = connect_events(helpers);
		struct channel_message answer;

		channel_send(fd, &wrong[i], channel_deadline(60000000));
		assert_int_equal(channel_receive(fd, 0, channel_deadline(60000000), &answer),
				 -EPIPE);
	}
}

/* A process that ends between two requests is replaced, and no request fails. */
static void test_a_dead_process_is_replaced(void **state)
{
	_cleanup_(events_client_freep) struct events_client *client = NULL;
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	struct helper_counts counts;
	struct events_machine machine;
	unsigned int before;

	assert_int_equal(helpers_new(&helpers, directory), 0);
	assert_int_equal(events_client_new(&client, helpers), 0);
	assert_int_equal(events_client_describe(client, &machine), 0);
	before = n_served;
	/* the connection of this client is the newest descriptor */
	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr_un peer = {};
		socklen_t n = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 && peer.sun_path[0])
			shutdown(fd, SHUT_RDWR);
	}
	assert_int_equal(events_client_describe(client, &machine), 0);
	assert_int_equal(n_served, before + 1);
	helpers_get_counts(helpers, HELPER_EVENTS, &counts);
	assert_int_equal(counts.failed, 1);
	assert_int_equal(counts.connected, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_describes_the_machine),
		cmocka_unit_test(test_opens_files_and_no_forbidden_event),
		cmocka_unit_test(test_takes_no_other_map),
		cmocka_unit_test(test_a_wrong_shape_ends_the_connection),
		cmocka_unit_test(test_a_dead_process_is_replaced),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
