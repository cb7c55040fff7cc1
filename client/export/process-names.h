/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of a profile's processes, each once, as the outermost frames of their stacks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct process_names {
	char **rows; /* clean text */
	size_t n;
	uint32_t *of; /* by process; the last: of PROFILE_NONE */
	size_t n_processes;
};

/* 0 or -ENOMEM; call process_names_done() in either case. */
int process_names_init(struct process_names *names, const struct profile *profile);
void process_names_done(struct process_names *names);

/* The number of the name of @process, which may be PROFILE_NONE. */
static inline uint32_t process_names_find(const struct process_names *names, uint32_t process)
{
	return names->of[process == PROFILE_NONE ? names->n_processes : process];
}
