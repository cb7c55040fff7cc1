/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The systemd unit that a process runs in; where it runs in none, its control group
 * ("/docker/4711"), but for the root. libsystemd's part in it stays behind this header.
 *
 * Processes come and go, control groups stay: what was found for one is kept by the id of the
 * group, if that is certain to be the one it was found in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/macro.h"

struct units;

int units_new(struct units **ret);
struct units *units_free(struct units *units);
DEFINE_CLEANUP(struct units *, units_free);

/*
 * The unit of process @pid, which was sampled in the group of id @cgroup of the unified hierarchy
 * (1: its root, where all are on a machine with the legacy hierarchy alone). 1 and *@ret, which may
 * be NULL for none, borrowed until the next call; 0 where it has ended; -ENOMEM.
 */
int units_find(struct units *units, int32_t pid, uint64_t cgroup, const char **ret);

/* Whether all that is in group @cgroup is certain to be in the unit that was found for it. */
bool units_knows(const struct units *units, uint64_t cgroup);
