/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control group of a process and the unit that it makes, as libsystemd has them. libsystemd
 * asks the kernel three times and its library thirty, so its answer is remembered by what the
 * kernel says of the process: where the id of the control group does not tell groups apart, each
 * new process is looked up. libsystemd stays behind this header.
 */
#pragma once

#include <stdint.h>

#include "common/util/macro.h"

struct group_lookup;

struct group {
	char *path; /* the control group */
	char *unit; /* or the path where that tells more, see unit.h; NULL: none */
};

int group_lookup_new(struct group_lookup **ret);
struct group_lookup *group_lookup_free(struct group_lookup *lookup);
DEFINE_CLEANUP(struct group_lookup *, group_lookup_free);

/* 1 and the group, borrowed until the next call; 0 if there is no such process; -ENOMEM. */
int group_lookup_find(struct group_lookup *lookup, int32_t pid, const struct group **ret);
