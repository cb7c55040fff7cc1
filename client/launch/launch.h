/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command until it ends, or until SIGINT, SIGTERM or SIGHUP, which the command gets as
 * well. Meanwhile it is recorded; or, if the daemon samples it, its processes are noted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/launch/family.h"
#include "client/launch/recorder.h"
#include "common/util/fault.h"

struct launch;

/* Called again and again while the command runs. -errno and @fault end the observation. */
struct launch_reports {
	uint64_t every_us; /* 0: never */
	int (*write)(struct launch *launch, void *userdata, struct fault *fault);
	void *userdata;
};

/* All but @reports is set by launch_run(). */
struct launch {
	struct launch_reports reports;
	struct family *family;     /* NULL: it is recorded */
	struct recorder *recorder; /* NULL: it is not */
	pid_t pid;                 /* of the command; -1: it was not started */
	uint64_t began_us;         /* CLOCK_REALTIME */
	/* CPU time that it used: with its children that it waited for, if it has ended */
	uint64_t cpu_us, user_us;
	int status;   /* of it, as wait(2) has it, once it has */
	bool ended;   /* and was waited for */
	bool limited; /* the recording reached its limit; the command went on without */
	int refused;  /* why it could not be executed: -errno */
};

/*
 * Returns when the command has ended, or was interrupted. @by_daemon: it is not recorded. -errno
 * and @fault, also if there is no such command.
 */
int launch_run(struct launch *launch, char *const *argv, bool by_daemon, struct fault *fault);

/*
 * Waits for the command. Its exit status as shells have it: 128 and the signal that ended it.
 */
int launch_wait(struct launch *launch);

/* Waits for the command, too. */
void launch_done(struct launch *launch);
