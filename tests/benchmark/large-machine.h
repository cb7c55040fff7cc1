/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a large machine samples: 64 CPUs 99 times a second, 300 long-lived processes and 20
 * short-lived ones a second, stacks 20 deep; and, if wanted, branches, blocks and streams.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct large_machine {
	bool with_branches;
	uint64_t state; /* of its random numbers: not 0 */
	int32_t next_pid;
};

#define LARGE_MACHINE_FIRST_PID 10000 /* of short-lived processes */

/* Long-lived processes are there, short-lived ones have gone by the time they are asked for. */
bool large_machine_has(int32_t pid);

/*
 * A finalized profile of this time. Of more than 10 s it is the sum that so long a window is:
 * pruned, and short-lived processes have gone, and are one for each program.
 */
struct profile *large_machine_sample(struct large_machine *machine, uint64_t length_us);
