/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synthetic windows of a program of twenty functions, one of which becomes hotter at some window;
 * and, if wanted, of functions that are sampled in that window alone, three times each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define SYNTHETIC_CHANGE_SAMPLES 6000u /* of a window: ten seconds of six CPUs at 99 Hz */
#define SYNTHETIC_CHANGE_RARE    400u  /* functions of a window that no other has */

struct synthetic_change {
	uint32_t at;   /* the first window after the change; 0: there is none */
	uint64_t seed; /* of what is sampled */
	bool crowded;  /* with rare functions, which are samples more */
};

/* Finalized; on failure the program ends. */
struct profile *synthetic_change_profile(const struct synthetic_change *change, uint32_t window);
