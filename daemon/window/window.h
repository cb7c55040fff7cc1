/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window: a span of wall-clock time and the profile of what was sampled in it. The collector
 * makes windows, the store keeps them, and the server sends them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/window/window-code.h"

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
 * A closed window, or a part of the open one (window.open), as it is handed from the collector to
 * the namer, and from there to the main thread. It belongs to the receiver. Only the namer adds
 * symbols and code, and finalizes the profile.
 */
struct window_profile {
	struct window window;
	struct profile *profile;
	struct window_code *code; /* NULL: none */
};

/* Frees what it has, but leaves the window. */
static inline void window_profile_done(struct window_profile *window)
{
	window->profile = profile_free(window->profile);
	window->code = window_code_free(window->code);
}
