/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of a recording or of this machine, as its events report them in order of time.
 *
 * The meaning of an address in a sample depends on the process, and on the time: an exec replaces
 * the address space, a new mapping may replace another. The meaning of what was sampled must not
 * change afterwards. So a process is a chain of process contexts: its name, program and address
 * space between two such changes. Whoever keeps raw addresses keeps a reference to their process
 * context, which resolves them at any later time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/process/address-space.h"
#include "common/process/process-context.h"
#include "common/record/event.h"

struct processes;

/* Whose a process is. */
struct process_owner {
	uint32_t uid; /* the effective user */
	bool restricted;
	uint64_t cgroup;
	const char *unit; /* or NULL */
};

int processes_new(struct processes **ret);
struct processes *processes_free(struct processes *processes);
DEFINE_CLEANUP(struct processes *, processes_free);

/*
 * From now on, files that had one inode after the other are different objects. Not for recordings:
 * of files mapped before they began they do not say which.
 */
void processes_keep_generations(struct processes *processes);

/* From now on the mappings that are known of a process are limited. For what runs for ever. */
void processes_limit_memory(struct processes *processes);

/* Applies @event; samples, and events of no process, are ignored. 0 or -ENOMEM. */
int processes_apply(struct processes *processes, const struct event *event);

/* The process context of process @pid now, made up where nothing was reported of it. Borrowed until
 * the next processes_apply(). NULL when memory ran out. */
struct process_context *processes_find(struct processes *processes, int32_t pid);

/* The same; NULL where nothing was reported of it. */
const struct process_context *processes_get(struct processes *processes, int32_t pid);

/*
 * Sets the owner of the process of *@ret, for this context, and for those that follow it or are
 * forked from it, until it is set again. What was sampled keeps its owner: *@ret may then be
 * another context. 0 or -ENOMEM.
 */
int processes_identify(struct processes *processes, struct process_context **ret,
		       const struct process_owner *owner);

/* Whether the process of the context has exited, or its number is another one's by now. */
bool processes_has_exited(const struct processes *processes,
			  const struct process_context *process_context);

/* The name of thread @tid of @pid, or else of its process; NULL where neither is known. */
const char *processes_thread_comm(struct processes *processes, int32_t pid, int32_t tid);

/*
 * Has @scan called for each address of the kernel that is in no mapping: it may apply events that
 * map it.
 */
void processes_scan_kernel(struct processes *processes, void (*scan)(void *userdata),
			   void *userdata);

/*
 * The mapping of @address, in user or kernel space, for @process_context; NULL where there is none.
 * Valid until the next event is applied, which for an address of the kernel this may do itself.
 */
const struct mapping *processes_locate(const struct processes *processes,
				       const struct process_context *process_context,
				       uint64_t address);
