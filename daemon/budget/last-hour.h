/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sampling took in the last hour, and how many of the samples due were taken: sums by the
 * minute, so that an hour with short windows takes no more memory than one with long ones.
 */
#pragma once

#include <stdint.h>

#define LAST_HOUR_MINUTES 60

/* Sums of the windows that ended in a minute. */
struct last_hour_minute {
	uint64_t number; /* since the clock's beginning */
	double seconds, used, taken;
};

/* Begins zeroed. */
struct last_hour {
	struct last_hour_minute minutes[LAST_HOUR_MINUTES];
};

/* Averages over time, 0 if nothing is known. */
struct last_hour_average {
	double share; /* of each CPU */
	double taken; /* samples, of those due */
};

/* A window that ended at @end_ns (CLOCK_MONOTONIC) took @seconds; @average is its own. */
void last_hour_add(struct last_hour *hour, uint64_t end_ns, double seconds,
		   const struct last_hour_average *average);

/* Of the windows that ended in the hour before @now_ns. */
struct last_hour_average last_hour_get(const struct last_hour *hour, uint64_t now_ns);
