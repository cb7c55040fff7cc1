/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes that belong to a command: it, and all that descend from it. A perf event that
 * counts nothing reports each fork, exactly and with its time; it takes no privilege where
 * kernel.perf_event_paranoid is 2 or less. Where it may not be opened, /proc is looked at.
 *
 * A process is a number and the time of its fork, because numbers are used again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/launch/rings.h"
#include "common/profile/profile.h"
#include "common/util/macro.h"

struct family;

/* A moment, to within what is known of it; CLOCK_MONOTONIC. */
struct family_moment {
	uint64_t earliest_ns, latest_ns;
};

/* @pid was forked then and has no children yet. -EOPNOTSUPP: nothing tells its children; -ENOMEM.
 */
int family_new(struct family **ret, pid_t pid, const struct family_moment *forked);
struct family *family_free(struct family *family);
DEFINE_CLEANUP(struct family *, family_free);

/* To poll: readable when there is something to take. There may be none. */
const struct rings *family_rings(const struct family *family);

/* Takes in the forks until now. -errno. */
int family_update(struct family *family);

/* The longest wait until the next update; -1: until the rings are readable. */
int family_wait_ms(const struct family *family);
/* Whether short processes are seen, too. */
bool family_is_exact(const struct family *family);
/* Reports that were lost, or past the limit: that number of processes may be missing. */
uint64_t family_n_lost(const struct family *family);

/* Their numbers with commas in between, for profile_filter.pid; false if these do not fit. */
bool family_write_pids(const struct family *family, char *text, size_t n_bytes);

/* Whether the process is one of them. For profile_filter.chosen: @userdata is a struct family. */
bool family_has(const struct profile_process *process, void *userdata);
