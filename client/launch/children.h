/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descendants of a process, from looking into /proc again and again, for users who may not
 * open perf events. It takes at most a twentieth of a CPU. Processes that live shorter than the
 * time between two looks are missed, and what these start.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "common/util/macro.h"

struct children;

/* When a process was forked, to within a tick of the kernel; CLOCK_MONOTONIC. 0 or -errno. */
typedef int (*children_found)(int32_t pid, uint64_t earliest_ns, uint64_t latest_ns,
			      void *userdata);

/* -EOPNOTSUPP: the kernel does not tell. -ENOMEM. */
int children_new(struct children **ret, pid_t pid);
struct children *children_free(struct children *children);
DEFINE_CLEANUP(struct children *, children_free);

/* Looks, and calls @found for each that is new. Its error; -ENOMEM. */
int children_look(struct children *children, children_found found, void *userdata);

/* How long to wait until the next look. */
int children_wait_ms(const struct children *children);

/* Children that were not looked at, because there were too many at once. */
uint64_t children_n_omitted(const struct children *children);
