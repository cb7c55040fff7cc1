/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window: a span of wall-clock time and the profile of what was sampled in it. The collector
 * makes windows, the store keeps them, and the server sends them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct window {
	int64_t id;         /* in the store; 0 while it is open or not stored yet */
	uint64_t start_us;  /* CLOCK_REALTIME */
	uint64_t length_us; /* wall-clock time */
	uint64_t samples;
	uint64_t lost; /* samples that it lacks, for any cause */
	bool open;     /* its end has not come yet */
	char mode[32]; /* "software", "branch", "stack", "stack+branch" */
};

/*
 * A closed window, or a part of the open one (window.open), as the collector hands it over: the
 * profile is neither symbolized nor finalized, and belongs to the receiver.
 */
struct window_profile {
	struct window window;
	struct profile *profile;
};
