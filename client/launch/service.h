/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's part in `branchctl run`: whether it samples what would be run, and what it sampled.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/launch/launch.h"
#include "client/rpc/connection.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"

/* How the daemon samples. */
struct service {
	uint64_t frequency;  /* samples per second and CPU; 0: one sample in @period events */
	uint64_t period;     /* 0: samples are taken by time */
	uint64_t started_us; /* tells a daemon from the next one */
	struct connection *keeping; /* while it is open, short processes are kept apart; or NULL */
};

/*
 * Whether the daemon samples all processes of this user. If not, @why says why in words, or is
 * empty if no daemon runs at the default socket.
 */
bool service_ask(struct service *ret, const char *socket, struct fault *why);
void service_done(struct service *service);

/*
 * How many samples are missing if a process that used the CPU for @cpu_us has @n of them at
 * @frequency; 0: as many came as can be expected, or nobody can tell.
 */
uint64_t service_n_missing(uint64_t frequency, uint64_t cpu_us, uint64_t n);

/*
 * *@ret is what the daemon has sampled of the processes of @launch. @settings have the socket, and
 * must outlive *@ret, as @launch must. Says on stderr what is missing. -errno and @fault.
 */
int service_fetch(struct profile_source **ret, struct service *service,
		  const struct profile_source_settings *settings, const struct launch *launch,
		  struct fault *fault);
