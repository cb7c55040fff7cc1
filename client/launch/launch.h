/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a command and records it until it ends, or until SIGINT or SIGTERM, which the command gets
 * as well. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "client/launch/recorder.h"
#include "common/util/fault.h"

struct launch {
	struct recorder *recorder;
	pid_t pid;    /* of the command; -1 once it was waited for */
	bool limited; /* the recording reached its limit; the command went on without */
};

/* Returns when the recording has ended, *@ret_path. -errno and @fault, also if there is no such
 * command. */
int launch_run(struct launch *launch, char *const *argv, const char **ret_path,
	       struct fault *fault);

/* Waits for the command. Its exit status as shells have it: 128 and the signal that ended it. */
int launch_wait(struct launch *launch);

/* Waits for the command, too. */
void launch_done(struct launch *launch);
