/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A piece of work that takes longer than the event loop can spare, in a thread of its own. It may
 * use only what nobody else uses meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

struct job {
	int (*work)(void *userdata); /* in the thread */
	/* On the event loop, with what work() returned and the CPU time it took; may free the job.
	 */
	void (*done)(void *userdata, int result, uint64_t cpu_ns);
	void *userdata;

	/* of job.c: */
	struct job_thread *thread; /* NULL: it is not at work */
};

/* 0 or -errno: then done() is not called. */
int job_start(struct job *job, sd_event *event);

/* Waits until work() is over, if it is at work; done() is not called. */
void job_cancel(struct job *job);
