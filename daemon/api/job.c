/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/job.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/thread.h"
#include "daemon/varlink/server-settings.h"

struct job_thread {
	struct job *job;
	int fd; /* readable once the work is over */
	sd_event_source *on_over;
	pthread_t thread;
	int result;
	uint64_t cpu_ns;
};

static void free_thread(struct job_thread *t)
{
	sd_event_source_disable_unref(t->on_over);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static void *run(void *userdata)
{
	struct job_thread *t = userdata;
	uint64_t one = 1;

	pthread_setname_np(pthread_self(), "query");
	t->result = t->job->work(t->job->userdata);
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	(void)!write(t->fd, &one, sizeof(one));
	return NULL;
}

static int on_over(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct job_thread *t = userdata;
	struct job *job = t->job;
	int result;
	uint64_t cpu_ns;

	pthread_join(t->thread, NULL);
	result = t->result;
	cpu_ns = t->cpu_ns;
	job->thread = NULL;
	free_thread(t);
	job->done(job->userdata, result, cpu_ns);
	return 0;
}

int job_start(struct job *job, sd_event *event)
{
	struct job_thread *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->job = job;
	t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = t->fd < 0 ? -errno : 0;
	if (r >= 0)
		r = sd_event_add_io(event, &t->on_over, t->fd, EPOLLIN, on_over, t);
	if (r >= 0)
		r = sd_event_source_set_priority(t->on_over, SERVER_PRIORITY);
	if (r >= 0)
		r = thread_start(&t->thread, run, t);
	if (r < 0) {
		free_thread(t);
		return r;
	}
	job->thread = t;
	return 0;
}

void job_cancel(struct job *job)
{
	struct job_thread *t = TAKE_PTR(job->thread);

	if (!t)
		return;
	pthread_join(t->thread, NULL);
	free_thread(t);
}
