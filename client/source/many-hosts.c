/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/many-hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/rpc/ssh.h"
#include "client/source/host-answer.h"
#include "client/term/text.h"
#include "common/profile/unite.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_CHILDREN 16 /* at once */
#define MAX_READ     65536
#define MAX_PENDING  16                  /* profiles that wait to be merged */
#define MAX_ANSWER   ((size_t)256 << 20) /* bytes, of a host */

/* A host that is asked just now. */
struct child {
	struct profile_source_host *host; /* NULL: none */
	pid_t pid;
	int fd; /* its answer comes from there */
	uint64_t start_us, end_us;
	char *bytes;
	size_t n, cap;
};

struct asking {
	const struct many_hosts_settings *settings;
	struct profile_source *source;
	struct child children[MAX_CHILDREN];
	size_t next; /* the first host that was not asked */
	struct profile *pending[MAX_PENDING];
	size_t n_pending;
};

static void asking_done(struct asking *asking)
{
	for (size_t i = 0; i < MAX_CHILDREN; i++) {
		struct child *child = &asking->children[i];

		if (!child->host)
			continue;
		kill(-child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
		close(child->fd);
		free(child->bytes);
	}
	for (size_t i = 0; i < asking->n_pending; i++)
		profile_free(asking->pending[i]);
}

_Noreturn static void run_child(const struct many_hosts_settings *settings, const char *name,
				int fd)
{
	struct profile_source_settings source = settings->source;
	_cleanup_free_ char *address = NULL;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(name, ".") != 0)
		source.socket = address = ssh_format_address(name, source.socket);
	source.max_reply = MAX_ANSWER;
	source.names_there = false; /* of each host */
	source.timeout_ms = (int)MIN(settings->timeout_us / 1000, (uint64_t)INT32_MAX);
	_exit(host_answer_write(&source, fd) < 0 ? 1 : 0);
}

static int start(struct asking *asking, struct child *child, struct profile_source_host *host)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*child = (struct child){
		.host = host,
		.fd = fds[0],
		.start_us = clock_us(CLOCK_MONOTONIC),
	};
	child->end_us = child->start_us + asking->settings->timeout_us;
	fcntl(child->fd, F_SETFL, O_NONBLOCK);
	child->pid = fork();
	if (child->pid == 0)
		run_child(asking->settings, host->name, fds[1]);
	close(fds[1]);
	if (child->pid > 0)
		return 0;
	close(child->fd);
	child->host = NULL;
	return -errno;
}

/* All pending profiles become one. */
static int merge_pending(struct asking *asking)
{
	struct profile *sum;
	int r;

	if (asking->n_pending < 2)
		return 0;
	r = profile_merge(&sum, (const struct profile *const *)asking->pending, asking->n_pending);
	if (r < 0)
		return r;
	for (size_t i = 0; i < asking->n_pending; i++)
		profile_free(asking->pending[i]);
	asking->pending[0] = sum;
	asking->n_pending = 1;
	return 0;
}

static int take_answer(struct asking *asking, struct child *child)
{
	struct profile *profile = NULL;
	int r = host_answer_read(child->host, &profile, child->bytes, child->n);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	asking->pending[asking->n_pending++] = profile;
	return asking->n_pending == MAX_PENDING ? merge_pending(asking) : 0;
}

/* Takes what it answered; @end says how that ended: 0, -ETIMEDOUT, -EMSGSIZE. */
static int finish(struct asking *asking, struct child *child, int end)
{
	struct profile_source_host *host = child->host;
	int r = 0;

	host->took_us = clock_us(CLOCK_MONOTONIC) - child->start_us;
	kill(-child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->fd);
	child->host = NULL;
	if (end == 0)
		r = take_answer(
			asking,
			&(struct child){ .host = host, .bytes = child->bytes, .n = child->n });
	else if (end == -EMSGSIZE)
		fault_set(&host->fault, end,
			  "%s: the answer is larger than %zu MiB: ask for fewer windows, or filter "
			  "with --pid, --comm or --unit",
			  host->name, MAX_ANSWER >> 20);
	else
		fault_set(&host->fault, end,
			  "%s: timed out: no whole answer in %.3g s, see --host-timeout",
			  host->name, (double)asking->settings->timeout_us / 1e6);
	free(child->bytes);
	return r;
}

/* Some of the answer: no host keeps the others from being read. */
static int receive(struct asking *asking, struct child *child)
{
	int r = ARRAY_RESERVE(&child->bytes, &child->cap, child->n + MAX_READ);
	ssize_t n;

	if (r < 0)
		return r;
	n = read(child->fd, child->bytes + child->n, MAX_READ);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return finish(asking, child, 0);
	child->n += (size_t)n;
	return child->n > MAX_ANSWER ? finish(asking, child, -EMSGSIZE) : 0;
}

static int start_some(struct asking *asking, size_t *ret_n)
{
	struct profile_source *source = asking->source;
	int r = 0;

	*ret_n = 0;
	for (size_t i = 0; i < MAX_CHILDREN; i++) {
		struct child *child = &asking->children[i];

		if (r >= 0 && !child->host && asking->next < source->n_hosts)
			r = start(asking, child, &source->hosts[asking->next++]);
		*ret_n += child->host != NULL;
	}
	return r;
}

/* Waits until a child has something, or the time of one is up. */
static int wait_for_some(struct asking *asking)
{
	struct pollfd fds[MAX_CHILDREN];
	uint64_t now_us = clock_us(CLOCK_MONOTONIC), end_us = UINT64_MAX;
	int r;

	for (size_t i = 0; i < MAX_CHILDREN; i++) {
		const struct child *child = &asking->children[i];

		fds[i] = (struct pollfd){ child->host ? child->fd : -1, POLLIN, 0 };
		if (child->host)
			end_us = MIN(end_us, child->end_us);
	}
	r = poll(fds, MAX_CHILDREN,
		 end_us > now_us ? (int)MIN((end_us - now_us) / 1000 + 1, (uint64_t)60000) : 0);
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	now_us = clock_us(CLOCK_MONOTONIC);
	r = 0;
	for (size_t i = 0; r >= 0 && i < MAX_CHILDREN; i++) {
		struct child *child = &asking->children[i];

		if (child->host && fds[i].revents)
			r = receive(asking, child);
		if (r >= 0 && child->host && now_us >= child->end_us)
			r = finish(asking, child, -ETIMEDOUT);
	}
	return r;
}

static int ask_all(struct asking *asking)
{
	size_t n;
	int r = start_some(asking, &n);

	while (r >= 0 && n > 0) {
		r = wait_for_some(asking);
		if (r >= 0)
			r = start_some(asking, &n);
	}
	return r < 0 ? r : merge_pending(asking);
}

static int list_hosts(struct profile_source *source, const struct host_list *list)
{
	source->hosts = calloc(list->n, sizeof(*source->hosts));
	if (!source->hosts)
		return -ENOMEM;
	source->n_hosts = list->n;
	for (size_t i = 0; i < list->n; i++) {
		source->hosts[i].name = strdup(list->names[i]);
		if (!source->hosts[i].name)
			return -ENOMEM;
	}
	return 0;
}

/* Names none but the first: the others are likely to have failed alike. */
static int fail_all(const struct profile_source *source, struct fault *fault)
{
	if (source->n_hosts == 1)
		return fault_set(fault, -EHOSTUNREACH, "%s", source->hosts[0].fault.text);
	return fault_set(fault, -EHOSTUNREACH, "none of %zu hosts answered: %.400s",
			 source->n_hosts, source->hosts[0].fault.text);
}

static int name_source(struct profile_source *source)
{
	size_t n = profile_source_n_answered(source);

	return asprintf(&source->name, "%zu of %zu host%s", n, source->n_hosts,
			text_plural(source->n_hosts)) < 0 ?
		       -ENOMEM :
		       0;
}

int many_hosts_open(struct profile_source **ret, const struct many_hosts_settings *settings,
		    struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(asking_done) struct asking asking = { .settings = settings };
	int r;

	r = profile_source_new(&source, &settings->source.symbols);
	if (r >= 0)
		r = list_hosts(source, settings->hosts);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	asking.source = source;
	r = ask_all(&asking);
	if (r >= 0 && asking.n_pending == 0)
		return fail_all(source, fault);
	if (r >= 0) {
		source->profile = asking.pending[0];
		asking.n_pending = 0;
		r = profile_unite(source->profile);
	}
	if (r >= 0)
		r = name_source(source);
	if (r >= 0)
		r = profile_source_filter(source, &settings->source.filter);
	if (r < 0)
		return fault_set(fault, r, "asking %zu hosts: %s", source->n_hosts, strerror(-r));
	*ret = TAKE_PTR(source);
	return 0;
}
