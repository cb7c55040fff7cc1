/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recording: what the simulator writes to perf.data: one event, user branch records, and the task
 * events around them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lbr_record;
struct mapping;
struct options;
struct recording;

/* Who and when a record is about. */
struct event_origin {
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint64_t time;
};

struct recorded_sample {
	uint64_t ip;
	uint64_t period;
	const struct lbr_record *rows;
	size_t n_rows;
	unsigned tos;
	const uint64_t *callers; /* return addresses, leaf first */
	size_t n_callers;
	/* With --stack: registers as in user-state.h, and the bytes of the stack that there are. */
	const uint64_t *registers;
	const void *stack;
	size_t n_stack;
	size_t n_held;   /* of the callers, those that the bytes hold */
	bool is_jumping; /* the stack is being left or rewritten */
};

/* Negative errno. */
int recording_new(struct recording **ret, const struct options *options);
int recording_finish(struct recording *r);
struct recording *recording_free(struct recording *r);

/* Returns the hw_idx that was written. */
uint64_t recording_add_sample(struct recording *r, const struct event_origin *m,
			      const struct recorded_sample *s);
void recording_add_comm(struct recording *r, const struct event_origin *m, const char *comm,
			bool exec);
void recording_add_mapping(struct recording *r, const struct event_origin *m,
			   const struct mapping *mapping);
void recording_add_fork(struct recording *r, const struct event_origin *m, pid_t pid, pid_t tid);
void recording_add_exit(struct recording *r, const struct event_origin *m, pid_t ppid);
