/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/opener.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/opener/messages.h"
#include "daemon/opener/process-user.h"

#define N_BAD     64       /* remembered */
#define BAD_US    60000000 /* a user, the first time; twice as long each time, up to an hour */
#define BRIEF_US  1000000  /* a file system; the machine may just be busy */
#define MAX_US    3600000000ull
#define MAX_TIMES 12
#define START_US  10000000 /* to start a process; seconds on an emulated machine */

/*
 * Who is to blame. A user can make the way to a mapped file hang whatever the file is: by a process
 * that holds the lock of its mappings for good. So a user is to blame for his processes. Root's do
 * not do that: there it is the file system of the file. Of those that have ended, or map no file,
 * it is the process.
 */
enum culprit_kind { CULPRIT_PROCESS, CULPRIT_USER, CULPRIT_FILE_SYSTEM };

struct culprit {
	enum culprit_kind kind;
	uint32_t id, major, minor;
};

struct bad {
	struct culprit who;
	unsigned int n_times; /* 0: a free place */
	uint64_t until_us;
};

struct tally {
	_Atomic uint64_t opened, failed, remote, hung, skipped;
};

struct opener {
	struct opener_settings settings;
	int fd; /* -1: not connected */
	struct bad bad[N_BAD];
	struct tally tally;
};

struct request {
	struct opener_request head;
	char path[OPENER_MAX_BYTES - sizeof(struct opener_request)];
};

int opener_new(struct opener **ret, const struct opener_settings *settings)
{
	struct opener *opener = calloc(1, sizeof(*opener));

	if (!opener)
		return -ENOMEM;
	opener->settings = *settings;
	if (opener->settings.patience_us == 0)
		opener->settings.patience_us = OPENER_PATIENCE_US;
	if (!opener->settings.user_of)
		opener->settings.user_of = process_user;
	opener->fd = -1;
	*ret = opener;
	return 0;
}

static void disconnect(struct opener *opener)
{
	if (opener->fd >= 0)
		close(opener->fd);
	opener->fd = -1;
}

struct opener *opener_free(struct opener *opener)
{
	if (!opener)
		return NULL;
	disconnect(opener);
	free(opener);
	return NULL;
}

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static bool is_same(const struct culprit *a, const struct culprit *b)
{
	return a->kind == b->kind && a->id == b->id && a->major == b->major && a->minor == b->minor;
}

static struct culprit name_culprit(const struct opener *opener,
				   const struct opener_request *request)
{
	int64_t uid = opener->settings.user_of(request->pid);

	if (uid > 0)
		return (struct culprit){ .kind = CULPRIT_USER, .id = (uint32_t)uid };
	if (uid < 0 || (!request->major && !request->minor))
		return (struct culprit){ .kind = CULPRIT_PROCESS, .id = (uint32_t)request->pid };
	return (struct culprit){
		.kind = CULPRIT_FILE_SYSTEM,
		.major = request->major,
		.minor = request->minor,
	};
}

static bool is_bad(const struct opener *opener, const struct culprit *who)
{
	for (size_t i = 0; i < N_BAD; i++)
		if (opener->bad[i].n_times > 0 && is_same(&opener->bad[i].who, who))
			return clock_us(CLOCK_MONOTONIC) < opener->bad[i].until_us;
	return false;
}

/* The place of the same one, or the one that is good again first. */
static struct bad *find_place(struct opener *opener, const struct culprit *who)
{
	struct bad *place = &opener->bad[0];

	for (size_t i = 0; i < N_BAD; i++) {
		if (opener->bad[i].n_times > 0 && is_same(&opener->bad[i].who, who))
			return &opener->bad[i];
		if (opener->bad[i].until_us < place->until_us)
			place = &opener->bad[i];
	}
	return place;
}

static void mark_bad(struct opener *opener, const struct culprit *who)
{
	uint64_t us = who->kind == CULPRIT_FILE_SYSTEM ? BRIEF_US : BAD_US;
	struct bad *place = find_place(opener, who);
	unsigned int n_times = 0;

	if (place->n_times > 0 && is_same(&place->who, who))
		n_times = MIN(place->n_times, (unsigned int)MAX_TIMES);
	us = MIN(us << n_times, MAX_US);
	*place = (struct bad){
		.who = *who,
		.n_times = n_times + 1,
		.until_us = clock_us(CLOCK_MONOTONIC) + us,
	};
}

/* A file system that answers is good again. A user may answer in between on purpose. */
static void mark_good(struct opener *opener, const struct culprit *who)
{
	for (size_t i = 0; i < N_BAD && who->kind == CULPRIT_FILE_SYSTEM; i++)
		if (opener->bad[i].n_times > 0 && is_same(&opener->bad[i].who, who))
			opener->bad[i] = (struct bad){};
}

/* Waits until the new process of @fd is ready. 0 or -errno. */
static int await_ready(int fd)
{
	struct channel_message message;
	int r = channel_receive(fd, 0, channel_deadline(START_US), &message);

	if (r < 0)
		return r;
	r = message.type == OPENER_READY ? 0 : -EBADMSG;
	channel_message_done(&message);
	return r;
}

static int connect_opener(struct opener *opener)
{
	int r;

	if (opener->fd >= 0)
		return 0;
	r = opener->settings.connect(opener->settings.userdata);
	if (r < 0)
		return r;
	opener->fd = r;
	r = await_ready(opener->fd);
	if (r < 0)
		disconnect(opener);
	return r;
}

static int exchange(struct opener *opener, uint32_t type, const struct request *request,
		    struct channel_message *ret)
{
	const struct channel_message message = {
		.type = type,
		.bytes = (void *)request,
		.n_bytes = sizeof(request->head) + strlen(request->path) + 1,
	};
	uint64_t deadline = channel_deadline(opener->settings.patience_us);
	int r = channel_send(opener->fd, &message, deadline);

	if (r < 0)
		return r;
	r = channel_receive(opener->fd, OPENER_MAX_BYTES, deadline, ret);
	if (r < 0)
		return r;
	if (ret->type == OPENER_REPLY && ret->n_bytes > sizeof(struct opener_reply) &&
	    ((const char *)ret->bytes)[ret->n_bytes - 1] == '\0')
		return 0;
	channel_message_done(ret);
	return -EBADMSG;
}

/*
 * Asks the opener. A process that was replaced or has ended before the request is not its fault:
 * another one gets it.
 */
static int ask(struct opener *opener, uint32_t type, const struct request *request,
	       struct channel_message *ret)
{
	bool fresh = opener->fd < 0;
	int r = connect_opener(opener);

	if (r < 0)
		return r;
	r = exchange(opener, type, request, ret);
	if (r >= 0)
		return r;
	disconnect(opener);
	if (r == -EPIPE && !fresh)
		return ask(opener, type, request, ret);
	count(&opener->tally.hung);
	return -ETIMEDOUT;
}

/* Asks, unless who is to blame for a failure is left alone. */
static int ask_unless_bad(struct opener *opener, uint32_t type, const struct request *request,
			  struct channel_message *ret)
{
	struct culprit who = name_culprit(opener, &request->head);
	int r;

	if (is_bad(opener, &who)) {
		count(&opener->tally.skipped);
		return -EBUSY;
	}
	r = ask(opener, type, request, ret);
	if (r == -ETIMEDOUT)
		mark_bad(opener, &who);
	if (r >= 0)
		mark_good(opener, &who);
	return r;
}

/* The descriptor of a reply, or the error that it reports. */
static int take_reply(struct channel_message *message, struct opener_reply *ret)
{
	memcpy(ret, message->bytes, sizeof(*ret));
	if (ret->error < 0)
		return ret->error;
	return message->n_fds == 1 ? channel_message_take_fd(message, 0) : -EBADMSG;
}

static void count_result(struct opener *opener, int r)
{
	if (r >= 0)
		count(&opener->tally.opened);
	else
		count(r == -EREMOTE ? &opener->tally.remote : &opener->tally.failed);
}

/* The descriptor that the opener answers with, and *@ret; or -errno. */
static int ask_for_file(struct opener *opener, uint32_t type, const struct request *request,
			struct file_identity *ret)
{
	struct channel_message message;
	struct opener_reply reply;
	int r = ask_unless_bad(opener, type, request, &message);

	if (r < 0)
		return r;
	r = take_reply(&message, &reply);
	if (r >= 0)
		*ret = reply.identity;
	channel_message_done(&message);
	if (type == OPENER_OPEN) /* few processes have a map */
		count_result(opener, r);
	return r;
}

int opener_open(struct opener *opener, const struct opener_file *file, struct file_identity *ret)
{
	struct request request = {
		.head = {
			.start = file->start,
			.end = file->end,
			.inode = file->inode,
			.major = file->major,
			.minor = file->minor,
			.pid = file->pid,
			.remote = opener->settings.remote,
		},
	};

	if (strlen(file->path) >= sizeof(request.path))
		return -ENAMETOOLONG;
	memcpy(request.path, file->path, strlen(file->path));
	return ask_for_file(opener, OPENER_OPEN, &request, ret);
}

int opener_open_jit(struct opener *opener, const struct opener_jit *process,
		    struct file_identity *ret)
{
	const struct request request = {
		.head = {
			.age_us = process->age_us,
			.pid = process->pid,
			.remote = opener->settings.remote,
			.uid = process->uid,
		},
	};

	return ask_for_file(opener, OPENER_JIT, &request, ret);
}

int opener_open_maps(struct opener *opener, int32_t pid, char *ret_executable, size_t n)
{
	const struct request request = { .head.pid = pid };
	struct channel_message message;
	struct opener_reply reply;
	int r;

	r = ask_unless_bad(opener, OPENER_MAPS, &request, &message);
	if (r < 0)
		return r;
	r = take_reply(&message, &reply);
	if (r >= 0)
		snprintf(ret_executable, n, "%s", (const char *)message.bytes + sizeof(reply));
	channel_message_done(&message);
	return r;
}

void opener_get_counts(const struct opener *opener, struct opener_counts *ret)
{
	*ret = (struct opener_counts){
		.opened = atomic_load_explicit(&opener->tally.opened, memory_order_relaxed),
		.failed = atomic_load_explicit(&opener->tally.failed, memory_order_relaxed),
		.remote = atomic_load_explicit(&opener->tally.remote, memory_order_relaxed),
		.hung = atomic_load_explicit(&opener->tally.hung, memory_order_relaxed),
		.skipped = atomic_load_explicit(&opener->tally.skipped, memory_order_relaxed),
	};
}
