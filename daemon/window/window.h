/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window: a span of wall-clock time and the profile of what was sampled in it. What the collector
 * hands over, the store keeps, and the server speaks of.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct window {
	int64_t id;         /* the store's; 0 before it is stored, and of the one still open */
	uint64_t start_us;  /* CLOCK_REALTIME */
	uint64_t length_us; /* wall-clock time it stands for */
	uint64_t samples;
	uint64_t lost; /* samples that are not in it, by whatever cause */
	bool open;     /* it is not at its end yet */
	char mode[32]; /* "software", "branch", "stack", "stack+branch" */
};
