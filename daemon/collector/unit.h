/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The systemd unit that a process runs in. A process in no unit has the path of its control group
 * ("/docker/4711") instead, unless that is the root; so has one in a container or pod that its unit
 * does not tell: rootless podman, Kubernetes.
 *
 * Processes come and go, control groups stay: the unit is remembered by the id of the control group
 * if it is certain that the process was in that group when it was looked up.
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
 * Finds the unit of process @pid, which was sampled in the control group with id @cgroup of the
 * unified hierarchy. (Id 1 is its root: with the legacy hierarchy alone, all processes are there.)
 * 1 and *@ret, NULL for no unit, borrowed until the next call; 0 if the process has ended; -ENOMEM.
 */
int units_find(struct units *units, int32_t pid, uint64_t cgroup, const char **ret);

/* Whether all processes in control group @cgroup are certain to be in the unit found for it. */
bool units_knows(const struct units *units, uint64_t cgroup);
