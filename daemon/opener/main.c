/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd-opener: opens files of other processes for branchd, which itself may not. Its connection
 * is its standard input; it ends with it.
 *
 * A file system may hang, and this process with it. Nobody needs to notice: an alarm ends it, and
 * branchd takes another one.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/macro.h"
#include "daemon/launcher/capabilities.h"
#include "daemon/opener/maps-copy.h"
#include "daemon/opener/messages.h"
#include "daemon/opener/open-file.h"

#define ALARM_SECONDS 10

struct reply {
	struct opener_reply head;
	char path[4096];
};

/* The path of @message, which must end with its NUL; NULL if it does not. */
static const char *get_path(const struct channel_message *message)
{
	size_t n = message->n_bytes - sizeof(struct opener_request);
	const char *path = (const char *)message->bytes + sizeof(struct opener_request);

	return n > 0 && path[n - 1] == '\0' ? path : NULL;
}

static int answer(const struct channel_message *message)
{
	struct channel_message m = { .type = OPENER_REPLY };
	struct reply reply = {};
	struct opener_request request;
	const char *path;
	int fd, r;

	if (message->n_bytes < sizeof(request) || message->n_fds > 0)
		return -EBADMSG;
	memcpy(&request, message->bytes, sizeof(request));
	path = get_path(message);
	if (message->type == OPENER_MAPS)
		fd = maps_copy(request.pid, reply.path, sizeof(reply.path));
	else if (message->type == OPENER_OPEN && path)
		fd = open_file(&request, path, &reply.head.identity);
	else
		return -EBADMSG;
	reply.head.error = MIN(fd, 0);
	m.bytes = &reply;
	m.n_bytes = sizeof(reply.head) + strlen(reply.path) + 1;
	if (fd >= 0)
		m.fds[m.n_fds++] = fd;
	r = channel_send(STDIN_FILENO, &m, channel_deadline(ALARM_SECONDS * 1000000ull));
	if (fd >= 0)
		close(fd);
	return r;
}

/* Answers one request. -EPIPE: the connection has ended. */
static int serve(void)
{
	struct channel_message message;
	int r = channel_receive(STDIN_FILENO, OPENER_MAX_BYTES, CHANNEL_NO_DEADLINE, &message);

	if (r < 0)
		return r;
	alarm(ALARM_SECONDS);
	r = answer(&message);
	alarm(0);
	channel_message_done(&message);
	return r;
}

static int say_ready(void)
{
	const struct channel_message message = { .type = OPENER_READY };

	return channel_send(STDIN_FILENO, &message, channel_deadline(ALARM_SECONDS * 1000000ull));
}

static int drop_privileges(void)
{
	const struct rlimit no_core = {};

	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return -errno;
	return capabilities_keep(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
				 CAPABILITY(CAP_CHECKPOINT_RESTORE));
}

int main(void)
{
	sigset_t none;
	int r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	r = drop_privileges();
	if (r >= 0)
		r = say_ready();
	while (r >= 0)
		r = serve();
	return r == -EPIPE ? EXIT_SUCCESS : EXIT_FAILURE;
}
