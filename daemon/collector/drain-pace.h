/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long the collector waits until it drains the rings again, unless one fills up before. Samples
 * can wait for two seconds, or for one while windows are short: a wake-up costs as much as many of
 * them, and an idle CPU is to sleep. Busy ones are drained twice a second, as what runs for a
 * second in a unit of its own is to be asked for that unit while it runs. What cannot wait is seen
 * at a drain, and then the next ones come soon: many programs start, with ten events or more each,
 * and map files that were not mapped of late, some of which can be opened only while they run; or
 * ticks fill their tables, which wake nobody.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DRAIN_PACE_LEAST_MS 250
#define DRAIN_PACE_SHORT_MS 1000 /* the most while windows are short */
#define DRAIN_PACE_MOST_MS  2000
#define DRAIN_PACE_BUSY_MS  500 /* the most while CPUs are busy */
#define DRAIN_PACE_SAMPLES  50  /* a second, more of which are of busy CPUs */
#define DRAIN_PACE_TASKS    100 /* events in a second or less, more of which are many */
#define DRAIN_PACE_TICKS    128 /* entries of a CPU's table that came into use, likewise */

/* What one drain saw. */
struct drain_pace_view {
	uint64_t n_samples; /* since sampling began, ticks among them */
	uint64_t n_tasks;   /* events of tasks and mappings since sampling began */
	uint64_t n_files;   /* that were mapped, and not of late */
	uint64_t n_ticks;   /* entries in use in the fullest table; it may have been emptied */
	uint64_t window_us; /* the length of windows */
	bool changes_phase; /* CPUs change between two events at drains, twice a second */
};

/* All zero at first. */
struct drain_pace {
	uint64_t n_samples, n_tasks, n_files, n_ticks;
	int wait_ms;
};

/* How long to wait after a drain, in ms. */
int drain_pace_next(struct drain_pace *pace, const struct drain_pace_view *view);
