/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the collector is stuck. Only the time in which the main loop was awake counts: a process
 * that was stopped or starved as a whole is not stuck, and its collector gets the chance to turn.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LIVENESS_PATIENCE_US 10000000

/* What one check sees. */
struct liveness_view {
	uint64_t now_us;    /* CLOCK_MONOTONIC */
	uint64_t turned_us; /* the collector's last turn, by the same clock */
	bool runs;          /* there is a collector: something is sampled */
};

/* All zero at first. */
struct liveness {
	uint64_t checked_us, turned_us;
	uint64_t awake_us; /* for which the main loop has seen no turn */
	bool stuck;
};

/*
 * Checks, about every @interval_us. True if the collector is not stuck: it has turned within ten
 * seconds, or there is none.
 */
bool liveness_check(struct liveness *liveness, const struct liveness_view *view,
		    uint64_t interval_us);
