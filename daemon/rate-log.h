/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages about samples that a collector does not take or loses: full rings, the kernel's
 * throttling, CpuBudget=. Each at most once an hour.
 */
#pragma once

#include <stdint.h>

#include "daemon/collector/collector.h"

/* Begins zeroed, with each collector. */
struct rate_log {
	uint64_t ring_full, throttled;                  /* when it was logged last */
	uint64_t ring_full_us, throttled_us, budget_us; /* when that was; 0: never */
};

/* A window has ended. @what is sampled, see sampling_describe(), within @budget (share of each
 * CPU). */
void rate_log_window(struct rate_log *log, const struct collector *collector, const char *what,
		     double budget);
