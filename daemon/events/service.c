/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/service.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/cleanup.h"
#include "daemon/events/check.h"
#include "daemon/events/cores.h"
#include "daemon/events/kernel-btf.h"
#include "daemon/events/loader.h"
#include "daemon/events/messages.h"

#define SEND_US 5000000

/* An answer in the making; its descriptors are its own. */
struct answer {
	struct channel_message message;
	union {
		struct events_machine machine;
		struct fault fault;
	};
};

static void add_fd(struct answer *a, int fd)
{
	a->message.fds[a->message.n_fds++] = fd;
}

static void add_bytes(struct answer *a, void *bytes, size_t n_bytes)
{
	a->message.bytes = bytes;
	a->message.n_bytes = n_bytes;
}

static int describe(const struct channel_message *request, struct answer *a)
{
	int r = loader_count_cpus();

	if (r < 0)
		return r;
	/* the type came with the member of task_struct of that name, so the name alone says it */
	a->machine = (struct events_machine){
		.n_cpus = (uint32_t)r,
		.keeps_call_stacks = kernel_btf_has(KERNEL_BTF, "perf_ctx_data"),
	};
	add_bytes(a, &a->machine, sizeof(a->machine));
	return 0;
}

static int open_event(const struct channel_message *request, struct answer *a)
{
	const struct events_open *open = request->bytes;
	_cleanup_close_ int fd = -1;
	bool is_core = open->attr.type >= PERF_TYPE_MAX && cores_have("", open->attr.type);
	int r = check_event(&open->attr, is_core);

	if (r < 0)
		return r;
	fd = (int)syscall(SYS_perf_event_open, &open->attr, -1, (int)open->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (open->attr.type == PERF_TYPE_SOFTWARE && open->attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		r = loader_add_ring(request->fds[0], open->cpu, fd);
	if (r < 0)
		return r;
	add_fd(a, fd);
	fd = -1;
	return 0;
}

static int load(const struct channel_message *request, struct answer *a)
{
	int fds[EVENTS_LOADED], r = check_program(request->bytes);

	if (r < 0)
		return r;
	a->fault.text[0] = '\0';
	r = loader_load(request->bytes, fds, &a->fault);
	if (r < 0) {
		add_bytes(a, a->fault.text, strlen(a->fault.text) + 1);
		return r;
	}
	for (int i = 0; i < EVENTS_LOADED; i++)
		add_fd(a, fds[i]);
	return 0;
}

static int refuse(const struct channel_message *request, struct answer *a)
{
	const struct events_refuse *refused = request->bytes;

	return loader_refuse(request->fds[0], refused->cgroup);
}

/* The rights of the process that opens these files decide which addresses they show. */
static int open_file(const char *path, struct answer *a)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	add_fd(a, fd);
	return 0;
}

static int open_kallsyms(const struct channel_message *request, struct answer *a)
{
	return open_file("/proc/kallsyms", a);
}

static int open_modules(const struct channel_message *request, struct answer *a)
{
	return open_file("/proc/modules", a);
}

static const struct {
	int (*answer)(const struct channel_message *request, struct answer *a);
	size_t n_bytes;
	unsigned int max_fds;
} requests[EVENTS_REQUESTS] = {
	[EVENTS_DESCRIBE] = { describe },
	[EVENTS_OPEN] = { open_event, sizeof(struct events_open), 1 },
	[EVENTS_LOAD] = { load, sizeof(struct events_program) },
	[EVENTS_REFUSE] = { refuse, sizeof(struct events_refuse), 1 },
	[EVENTS_OPEN_KALLSYMS] = { open_kallsyms },
	[EVENTS_OPEN_MODULES] = { open_modules },
};

/* A request of the wrong shape is not worth an answer. -EBADMSG */
static int answer(const struct channel_message *request, struct answer *a)
{
	if (request->type >= EVENTS_REQUESTS || !requests[request->type].answer ||
	    request->n_bytes != requests[request->type].n_bytes ||
	    request->n_fds > requests[request->type].max_fds)
		return -EBADMSG;
	a->message.type = (uint32_t)-requests[request->type].answer(request, a);
	return 0;
}

static int serve(int fd)
{
	struct channel_message request;
	struct answer a = {};
	int r = channel_receive(fd, EVENTS_MAX_BYTES, CHANNEL_NO_DEADLINE, &request);

	if (r < 0)
		return r;
	if (request.n_fds == 0)
		request.fds[0] = -1;
	r = answer(&request, &a);
	if (r >= 0)
		r = channel_send(fd, &a.message, channel_deadline(SEND_US));
	a.message.bytes = NULL; /* a part of the answer */
	channel_message_done(&a.message);
	channel_message_done(&request);
	return r;
}

int service_run(int fd)
{
	int r;

	do
		r = serve(fd);
	while (r >= 0);
	return r == -EPIPE ? 0 : r;
}
