/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of a recording or of this machine, as its events tell of them, in order of time.
 *
 * What an address of a sample means depends on the process, and on when: an exec replaces the
 * address space, a mapping may be laid over another. What has been sampled may not change its
 * meaning afterwards, so a process is a chain of *process_contexts*: name, program and address
 * space between two such changes. Whoever keeps raw addresses keeps a reference to the
 * process_context they were sampled in, and can say long after what they meant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/process/address-space.h"
#include "common/process/process-context.h"
#include "common/record/event.h"

struct processes;

int processes_new(struct processes **ret);
struct processes *processes_free(struct processes *processes);
DEFINE_CLEANUP(struct processes *, processes_free);

/* Takes note of what @event tells; samples and what concerns no process are passed over. 0,
 * -ENOMEM. */
int processes_apply(struct processes *processes, const struct event *event);

/*
 * The process_context of process @pid now, made up where nothing was heard of it: borrowed until
 * the next processes_apply(). NULL when memory ran out.
 */
struct process_context *processes_find(struct processes *processes, int32_t pid);

/*
 * Says whose process *@ret is: for the process_context, and for what becomes of it or is forked by
 * it, until it is said again. What was sampled stays whose it was: *@ret may be another one then. 0
 * or -ENOMEM.
 */
int processes_identify(struct processes *processes, struct process_context **ret, uint32_t uid,
		       uint64_t cgroup, const char *unit);

/* The name of thread @tid of @pid: its own where it has one, else its process's; NULL for neither.
 */
const char *processes_thread_comm(struct processes *processes, int32_t pid, int32_t tid);

/* The mapping of @address, a user's or the kernel's, for @process_context; NULL where there is
 * none. */
const struct mapping *processes_locate(const struct processes *processes,
				       const struct process_context *process_context,
				       uint64_t address);
