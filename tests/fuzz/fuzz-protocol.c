/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server on any bytes: they come over a socket in pieces of a size that the first byte says,
 * and are served by methods of every kind: answered at once, in several replies, later, by an
 * error, not at all. What comes back must be replies, and no more of them than was asked for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/protocol/framing.h"
#include "daemon/varlink/parameters.h"
#include "daemon/varlink/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sd_event *event;
static struct server *server;
static struct call *kept;

/* What must hold, in a build of any kind. */
static void check(int holds)
{
	if (!holds)
		abort();
}

static int echo(struct call *call, json_t *parameters, void *userdata)
{
	return call_reply(call, json_incref(parameters), false);
}

static int count(struct call *call, json_t *parameters, void *userdata)
{
	int64_t n = 3, unused = 0;
	const char *text = "";
	const struct parameter known[] = {
		{ "n", NULL, &n },
		{ "unused", NULL, &unused },
		{ "text", &text, NULL },
	};

	if (!parameters_read(call, known, ARRAY_SIZE(known)))
		return 0;
	check(n >= 0 && unused >= 0 && text != NULL);
	for (int64_t i = 0; call_wants_more(call) && i < n % 50; i++)
		check(call_reply(call, json_pack("{ss}", "text", text), true) == 0);
	return call_reply_text(call, strdup("{\"x\":[]}"), 8, false);
}

static void on_gone(struct call *call, void *userdata)
{
	check(kept == call);
	kept = NULL;
}

static int keep(struct call *call, json_t *parameters, void *userdata)
{
	check(kept == NULL);
	kept = call;
	call_on_gone(call, on_gone, NULL);
	return 0;
}

static int fail(struct call *call, json_t *parameters, void *userdata)
{
	return -5;
}

static const struct server_method methods[] = {
	{ "a.b.Echo", echo },
	{ "a.b.Count", count },
	{ "a.b.Keep", keep },
	{ "a.b.Fail", fail },
};

static void open_server(void)
{
	const struct server_settings settings = {
		.description = "interface a.b\n",
		.interface = "a.b",
		.methods = methods,
		.n_methods = ARRAY_SIZE(methods),
		.max_message_bytes = 4096,
		.patience_ms = 3600000,
		.group = (gid_t)-1,
	};
	struct fault fault;

	check(sd_event_new(&event) >= 0);
	check(server_new(&server, event, -1, &settings, &fault) == 0);
}

/* What the caller may expect: exactly one of parameters and error, and nothing else but continues.
 */
static void check_reply(const char *text, size_t n)
{
	json_t *reply = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

	check(json_is_object(reply));
	check(json_is_string(json_object_get(reply, "error")) ||
	      json_is_object(json_object_get(reply, "parameters")));
	check(!json_object_get(reply, "error") || !json_object_get(reply, "continues"));
	json_decref(reply);
}

/* Receives what is there; false at the end. */
static int receive(int fd, struct framing *in)
{
	size_t n_room, length;
	char *room, *text;
	ssize_t n;

	for (;;) {
		check(framing_reserve(in, &room, &n_room) == 0);
		n = recv(fd, room, n_room, MSG_DONTWAIT);
		if (n <= 0)
			return n != 0;
		framing_fill(in, (size_t)n);
		while (framing_next(in, &text, &length) > 0)
			check_reply(text, length);
	}
}

static void run(void)
{
	while (sd_event_run(event, 0) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct server_counts counts;
	struct framing in;
	size_t piece;
	int fds[2];

	if (!event)
		open_server();
	if (size == 0)
		return 0;
	piece = *data ? *data * 4 : SIZE_MAX;
	data++;
	size--;
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	check(server_add_connection(server, fds[0]) == 0);
	framing_init(&in, 1 << 26);
	while (size > 0) {
		size_t part = size < piece ? size : piece;
		ssize_t n = send(fds[1], data, part, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
		run();
		if (!receive(fds[1], &in) || n < 0)
			break;
		if (kept && size % 2) {
			check(call_reply(kept, json_object(), false) == 0);
			kept = NULL;
		}
	}
	shutdown(fds[1], SHUT_WR);
	run();
	receive(fds[1], &in);
	close(fds[1]);
	run();
	check(kept == NULL);
	server_get_counts(server, &counts);
	check(counts.open == 0 && counts.pending_bytes == 0);
	framing_done(&in);
	return 0;
}
