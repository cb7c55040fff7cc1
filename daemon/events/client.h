/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd's side of branchd-events. A process that has died or hangs is replaced by another one,
 * which gets the same request once more. One thread at a time.
 */
#pragma once

#include <stdint.h>

#include <linux/perf_event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/events/messages.h"
#include "daemon/helpers/helpers.h"

struct events_client;

/* Borrows @helpers, and connects when something is wanted. -ENOMEM */
int events_client_new(struct events_client **ret, struct helpers *helpers);
struct events_client *events_client_free(struct events_client *client);
DEFINE_CLEANUP(struct events_client *, events_client_free);

/*
 * All functions below return -errno: of the kernel; -EPIPE, -ETIMEDOUT or -EBADMSG if no process
 * answers; or that of helpers_connect().
 */

int events_client_describe(struct events_client *client, struct events_machine *ret);

/* An event of all tasks on @cpu: a descriptor. @rings_fd is -1 except for the CPU's ring. */
int events_client_open(struct events_client *client, const struct perf_event_attr *attr,
		       uint32_t cpu, int rings_fd);

/* @ret_fds belong to the caller. Sets @fault. */
int events_client_load(struct events_client *client, const struct events_program *program,
		       int ret_fds[EVENTS_LOADED], struct fault *fault);

int events_client_refuse(struct events_client *client, int refused_fd, uint64_t cgroup);

/* /proc/kallsyms or /proc/modules, with addresses: a descriptor. */
int events_client_open_kallsyms(struct events_client *client);
int events_client_open_modules(struct events_client *client);
