/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/channel/channel.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE 3000000 /* bytes: more than the socket's buffer takes */

struct pair {
	int a, b;
};

static struct pair new_pair(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	return (struct pair){ fds[0], fds[1] };
}

static void close_pair(struct pair p)
{
	close(p.a);
	close(p.b);
}

static void test_carries_bytes_and_descriptors(void **state)
{
	struct pair p = new_pair();
	struct channel_message m = {
		.type = 7, .bytes = (void *)"hello", .n_bytes = 5, .n_fds = 2
	};
	struct channel_message got;
	int fds[2];
	char c;

	assert_int_equal(pipe(fds), 0);
	m.fds[0] = fds[0];
	m.fds[1] = fds[1];
	assert_int_equal(channel_send(p.a, &m, CHANNEL_NO_DEADLINE), 0);
	assert_int_equal(channel_receive(p.b, 5, channel_deadline(60000000), &got), 0);
	assert_int_equal(got.type, 7);
	assert_int_equal(got.n_bytes, 5);
	assert_memory_equal(got.bytes, "hello", 5);
	assert_int_equal(got.n_fds, 2);
	assert_int_equal(write(got.fds[1], "x", 1), 1);
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(c, 'x');
	close(channel_message_take_fd(&got, 0));
	assert_int_equal(channel_message_take_fd(&got, 0), -1);
	assert_int_equal(channel_message_take_fd(&got, 2), -1);
	channel_message_done(&got);
	close(fds[0]);
	close(fds[1]);
	close_pair(p);
}

static void *send_large(void *userdata)
{
	int *fd = userdata;
	char *bytes = calloc(1, LARGE);
	struct channel_message m = { .type = 1, .bytes = bytes, .n_bytes = LARGE };
	intptr_t r;

	memset(bytes, 'y', LARGE);
	r = channel_send(*fd, &m, CHANNEL_NO_DEADLINE);
	free(bytes);
	return (void *)r;
}

static void test_carries_more_than_a_buffer(void **state)
{
	struct pair p = new_pair();
	struct channel_message got;
	pthread_t thread;
	void *r;

	assert_int_equal(pthread_create(&thread, NULL, send_large, &p.a), 0);
	assert_int_equal(channel_receive(p.b, LARGE, CHANNEL_NO_DEADLINE, &got), 0);
	pthread_join(thread, &r);
	assert_null(r);
	assert_int_equal(got.n_bytes, LARGE);
	assert_int_equal(((char *)got.bytes)[LARGE - 1], 'y');
	channel_message_done(&got);
	close_pair(p);
}

static void test_ends_at_the_deadline(void **state)
{
	struct pair p = new_pair();
	char *bytes = calloc(1, LARGE);
	struct channel_message m = { .type = 1, .bytes = bytes, .n_bytes = LARGE };
	struct channel_message got;

	assert_int_equal(channel_receive(p.b, 10, channel_deadline(1000), &got), -ETIMEDOUT);
	assert_int_equal(channel_send(p.a, &m, channel_deadline(1000)), -ETIMEDOUT);
	free(bytes);
	close_pair(p);
}

static void test_refuses_what_is_too_long(void **state)
{
	struct pair p = new_pair();
	struct channel_message m = { .type = 1, .bytes = (void *)"hello", .n_bytes = 5 };
	struct channel_message got;

	assert_int_equal(channel_send(p.a, &m, CHANNEL_NO_DEADLINE), 0);
	assert_int_equal(channel_receive(p.b, 4, CHANNEL_NO_DEADLINE, &got), -EMSGSIZE);
	close_pair(p);
}

static void test_reports_a_closed_end(void **state)
{
	struct pair p = new_pair();
	struct channel_message m = { .type = 1 };
	struct channel_message got;

	assert_int_equal(write(p.a, "abc", 3), 3); /* a part of a header */
	close(p.a);
	assert_int_equal(channel_receive(p.b, 4, CHANNEL_NO_DEADLINE, &got), -EPIPE);
	assert_int_equal(channel_send(p.b, &m, CHANNEL_NO_DEADLINE), -EPIPE);
	close(p.b);
}

static void test_refuses_other_descriptors_than_announced(void **state)
{
	struct pair p = new_pair();
	uint32_t header[3] = { 1, 1, 0 }; /* one descriptor, and none comes */
	struct channel_message got;

	assert_int_equal(write(p.a, header, sizeof(header)), sizeof(header));
	assert_int_equal(channel_receive(p.b, 4, CHANNEL_NO_DEADLINE, &got), -EBADMSG);
	close_pair(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carries_bytes_and_descriptors),
		cmocka_unit_test(test_carries_more_than_a_buffer),
		cmocka_unit_test(test_ends_at_the_deadline),
		cmocka_unit_test(test_refuses_what_is_too_long),
		cmocka_unit_test(test_reports_a_closed_end),
		cmocka_unit_test(test_refuses_other_descriptors_than_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
