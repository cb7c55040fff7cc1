/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/channel/channel.h"

#define ANSWER_US 30000000 /* the kernel verifies programs, and has many types */

struct events_client {
	struct helpers *helpers;
	int fd; /* -1: not connected */
};

int events_client_new(struct events_client **ret, struct helpers *helpers)
{
	struct events_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->helpers = helpers;
	client->fd = -1;
	*ret = client;
	return 0;
}

static void disconnect(struct events_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

struct events_client *events_client_free(struct events_client *client)
{
	if (!client)
		return NULL;
	disconnect(client);
	free(client);
	return NULL;
}

/* -EMFILE if that is why no descriptor came, else @r. */
static int no_descriptor_left(const struct events_client *client, int r)
{
	int fd = r == -EBADMSG ? fcntl(client->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (fd >= 0)
		close(fd);
	return r == -EBADMSG && fd < 0 ? -errno : r;
}

/* An errno of the kernel comes in an answer: these errors are those of the connection itself. */
static int exchange(struct events_client *client, const struct channel_message *request,
		    struct channel_message *ret)
{
	uint64_t deadline = channel_deadline(ANSWER_US);
	int r;

	if (client->fd < 0)
		client->fd = helpers_connect(client->helpers, HELPER_EVENTS);
	if (client->fd < 0)
		return client->fd;
	r = channel_send(client->fd, request, deadline);
	if (r >= 0)
		r = channel_receive(client->fd, EVENTS_MAX_BYTES, deadline, ret);
	if (r >= 0)
		return 0;
	r = no_descriptor_left(client, r);
	disconnect(client);
	if (r != -EMFILE)
		helpers_count_failure(client->helpers, HELPER_EVENTS);
	return r;
}

/* 0 and an answer, or -errno of the connection. */
static int ask(struct events_client *client, const struct channel_message *request,
	       struct channel_message *ret)
{
	bool fresh = client->fd < 0;
	int r = exchange(client, request, ret);

	return r == -EPIPE && !fresh ? exchange(client, request, ret) : r;
}

/* 0, or the -errno in the answer. */
static int result_of(const struct channel_message *answer, unsigned int n_fds, size_t n_bytes)
{
	if (answer->type > 0)
		return answer->type < 4096 ? -(int)answer->type : -EBADMSG;
	return answer->n_fds == n_fds && answer->n_bytes == n_bytes ? 0 : -EBADMSG;
}

/* A request that a descriptor answers. */
static int ask_fd(struct events_client *client, const struct channel_message *request)
{
	struct channel_message answer;
	int r = ask(client, request, &answer);

	if (r < 0)
		return r;
	r = result_of(&answer, 1, 0);
	if (r >= 0)
		r = channel_message_take_fd(&answer, 0);
	channel_message_done(&answer);
	return r;
}

int events_client_describe(struct events_client *client, struct events_machine *ret)
{
	const struct channel_message request = { .type = EVENTS_DESCRIBE };
	struct channel_message answer;
	int r = ask(client, &request, &answer);

	if (r < 0)
		return r;
	r = result_of(&answer, 0, sizeof(*ret));
	if (r >= 0)
		memcpy(ret, answer.bytes, sizeof(*ret));
	channel_message_done(&answer);
	return r;
}

int events_client_open(struct events_client *client, const struct perf_event_attr *attr,
		       uint32_t cpu, int rings_fd)
{
	struct events_open open = { .attr = *attr, .cpu = cpu };
	const struct channel_message request = {
		.type = EVENTS_OPEN,
		.n_fds = rings_fd >= 0,
		.bytes = &open,
		.n_bytes = sizeof(open),
		.fds = { rings_fd },
	};

	return ask_fd(client, &request);
}

static int take_fault(const struct channel_message *answer, int r, struct fault *fault)
{
	const char *text = answer->bytes;

	if (answer->type == 0 || answer->n_bytes == 0 || text[answer->n_bytes - 1] != '\0')
		return fault_set(fault, r, "the BPF program cannot be loaded: %s", strerror(-r));
	return fault_set(fault, r, "%s", text);
}

int events_client_load(struct events_client *client, const struct events_program *program,
		       int ret_fds[EVENTS_LOADED], struct fault *fault)
{
	const struct channel_message request = {
		.type = EVENTS_LOAD,
		.bytes = (void *)program,
		.n_bytes = sizeof(*program),
	};
	struct channel_message answer;
	int r = ask(client, &request, &answer);

	if (r < 0)
		return fault_set(fault, r, "branchd-events does not answer: %s", strerror(-r));
	r = result_of(&answer, EVENTS_LOADED, 0);
	if (r < 0)
		take_fault(&answer, r, fault);
	for (unsigned int i = 0; i < EVENTS_LOADED && r >= 0; i++)
		ret_fds[i] = channel_message_take_fd(&answer, i);
	channel_message_done(&answer);
	return r;
}

int events_client_refuse(struct events_client *client, int refused_fd, uint64_t cgroup)
{
	struct events_refuse refuse = { .cgroup = cgroup };
	const struct channel_message request = {
		.type = EVENTS_REFUSE,
		.n_fds = 1,
		.bytes = &refuse,
		.n_bytes = sizeof(refuse),
		.fds = { refused_fd },
	};
	struct channel_message answer;
	int r = ask(client, &request, &answer);

	if (r < 0)
		return r;
	r = result_of(&answer, 0, 0);
	channel_message_done(&answer);
	return r;
}

int events_client_open_kallsyms(struct events_client *client)
{
	return ask_fd(client, &(struct channel_message){ .type = EVENTS_OPEN_KALLSYMS });
}

int events_client_open_modules(struct events_client *client)
{
	return ask_fd(client, &(struct channel_message){ .type = EVENTS_OPEN_MODULES });
}
