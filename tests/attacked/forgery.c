/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/attacked/forgery.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/parser/message.h"
#include "tests/support/random.h"

#define MAX_WRITES 16
#define MANY_FDS   200
#define TERMINAL   "\033[2J\rharm"
#define MANY_BYTES (1u << 20)

/* What channel.c sends before the bytes. */
struct header {
	uint32_t type, n_fds, n_bytes;
};

struct table {
	struct message_answer answer;
	struct message_table head;
	struct message_range range;
	char text[16];
};

/* The same, of more than one may have. */
struct large_table {
	struct message_answer answer;
	struct message_table head;
	struct message_range ranges[2];
	char text[MESSAGE_NAME + 8];
};

static const char *way;
static uint64_t random_state;

void forgery_begin(const char *new_way, const char *seed)
{
	static char copy[32];

	strncpy(copy, new_way, sizeof(copy) - 1);
	way = copy;
	random_state = strtoull(seed, NULL, 10) * 0x9e3779b97f4a7c15 + 1;
}

static bool is(const char *name)
{
	return !strcmp(way, name);
}

/* A table that is well-shaped but for one thing. */
static void forge_table(struct table *t, struct channel_message *m)
{
	*t = (struct table){
		.head = { .n_ranges = 1, .n_text = sizeof(t->text) },
		.range = { .first = 0x1000, .last = 0x100f, .start = 0x1000, .size = 0x10 },
		.text = TERMINAL,
	};
	m->bytes = t;
	m->n_bytes = sizeof(*t);
	if (is("ranges"))
		t->head.n_ranges = UINT32_MAX;
	else if (is("ranges-by-one"))
		t->head.n_ranges++;
	else if (is("text"))
		t->head.n_text = UINT32_MAX;
	else if (is("text-by-one"))
		t->head.n_text++;
	else if (is("no-text"))
		t->head.n_text = 0;
	else if (is("offset"))
		t->range.name = sizeof(t->text);
	else if (is("far-offset"))
		t->range.name = UINT32_MAX - 1;
	else if (is("unterminated"))
		memset(t->text, 'x', sizeof(t->text));
	else if (is("inverted"))
		t->range.last = 0xfff;
	else if (is("outside"))
		t->range.last = 0x1010;
	else if (is("around"))
		t->range.start = UINT64_MAX - 8;
	else if (is("type"))
		m->type = PARSER_LINES;
	else if (is("short"))
		m->n_bytes = sizeof(t->answer) + 8;
	else if (is("empty"))
		m->n_bytes = 0;
	else if (is("positive"))
		t->answer.result = 1;
	else if (is("lost"))
		t->answer.result = -EREMOTEIO;
	else if (is("refused"))
		t->answer.result = -ECONNREFUSED;
	else if (is("errno"))
		t->answer.result = INT32_MIN;
}

/* False for other ways. */
static bool forge_large_table(struct large_table *t, struct channel_message *m)
{
	const struct message_range range = {
		.first = 0x1000, .last = 0x100f, .start = 0x1000, .size = 0x10
	};

	*t = (struct large_table){ .head = { .n_ranges = 1, .n_text = sizeof(t->text) } };
	m->bytes = t;
	m->n_bytes = sizeof(*t);
	if (is("too-many")) { /* one offset was asked for */
		t->head.n_ranges = 2;
		t->ranges[0] = t->ranges[1] = range;
		return true;
	}
	/* the text begins where the second range would */
	t->ranges[0] = range;
	memset(&t->ranges[1], 'n', MESSAGE_NAME + 1);
	return is("long-name");
}

static void send_bytes(int fd, const void *bytes, size_t n)
{
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* The null device, @n times. */
static void send_descriptors(int fd, const struct header *header, uint32_t n)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * MANY_FDS)];
		struct cmsghdr align;
	} control = {};
	struct iovec part = { .iov_base = (void *)header, .iov_len = sizeof(*header) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes };
	struct cmsghdr *c;

	m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * n);
	for (uint32_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &(int){ STDERR_FILENO }, sizeof(int));
	sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* True for ways that go below messages. */
static bool forge_stream(int fd, const struct channel_message *m)
{
	static char much[MANY_BYTES];
	struct header header = { .type = m->type, .n_bytes = (uint32_t)m->n_bytes };

	if (is("oversize")) {
		header.n_bytes = UINT32_MAX;
	} else if (is("large")) { /* at the limit, and half of it comes */
		header.n_bytes = MESSAGE_MAX;
		send_bytes(fd, &header, sizeof(header));
		for (size_t i = 0; i < MESSAGE_MAX / 2; i += MANY_BYTES)
			send_bytes(fd, much, MANY_BYTES);
		_exit(EXIT_SUCCESS);
	} else if (is("descriptors")) {
		header.n_fds = CHANNEL_FDS_MAX;
		send_descriptors(fd, &header, CHANNEL_FDS_MAX);
		send_bytes(fd, m->bytes, m->n_bytes);
		return true;
	} else if (is("many-descriptors")) {
		header.n_fds = MANY_FDS;
		send_descriptors(fd, &header, MANY_FDS);
		return true;
	} else if (is("no-descriptors")) {
		header.n_fds = UINT32_MAX;
	} else if (is("half")) {
		send_bytes(fd, &header, sizeof(header));
		send_bytes(fd, m->bytes, m->n_bytes / 2);
		_exit(EXIT_SUCCESS);
	} else {
		return false;
	}
	send_bytes(fd, &header, sizeof(header));
	return true;
}

/* Numbers that limits are often wrong about. */
static uint64_t choose_number(uint64_t *random, size_t n)
{
	const uint64_t numbers[] = { 0,         1,         n,          n - 1,      n + 1,
				     INT32_MAX, INT32_MIN, UINT32_MAX, UINT64_MAX, 1ull << 32 };

	if (random_below(random, 4) == 0)
		return next_random(random);
	return numbers[random_below(random, ARRAY_SIZE(numbers))];
}

/* Some places of the answer get other values; its end may move. */
static void forge_at_random(struct channel_message *m)
{
	size_t n = m->n_bytes, head = sizeof(struct message_answer);
	uint64_t *r = &random_state, n_writes = 1 + random_below(r, MAX_WRITES);
	uint8_t *copy = calloc(1, n + MAX_WRITES * 8);

	if (!copy)
		_exit(EXIT_FAILURE);
	memcpy(copy, m->bytes, n);
	m->bytes = copy;
	if (random_below(r, 4) == 0)
		m->n_bytes = random_below(r, n + MAX_WRITES * 8);
	if (random_below(r, 16) == 0)
		head = 0;
	if (m->n_bytes < head + 8)
		return;
	for (uint64_t i = 0; i < n_writes; i++) {
		uint64_t number = choose_number(r, n);
		size_t size = 1u << random_below(r, 4);

		memcpy(copy + head + random_below(r, (m->n_bytes - head) / size) * size, &number,
		       size);
	}
}

int forgery_send(int (*send)(int fd, const struct channel_message *message, uint64_t deadline_ns),
		 int fd, const struct channel_message *message, uint64_t deadline_ns)
{
	struct channel_message forged = *message;
	struct large_table large;
	struct table table;
	int r;

	if (!way || message->type == PARSER_HELLO || message->type == PARSER_LAST_WORDS)
		return send(fd, message, deadline_ns);
	if (is("random")) {
		forge_at_random(&forged);
		r = send(fd, &forged, deadline_ns);
		free(forged.bytes);
		return r;
	}
	if (!forge_large_table(&large, &forged))
		forge_table(&table, &forged);
	if (forge_stream(fd, &forged))
		return 0;
	r = send(fd, &forged, deadline_ns);
	return is("twice") && r >= 0 ? send(fd, &forged, deadline_ns) : r;
}
