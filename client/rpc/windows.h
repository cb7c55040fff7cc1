/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of the daemon's windows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_info {
	int64_t id; /* 0: the open window */
	uint64_t start_us;
	uint64_t length_us;
	uint64_t samples;
	uint64_t lost;
	bool open;
	char mode[32];
};

#define WINDOWS_MARK_NAME_MAX 64 /* bytes */
#define WINDOWS_MAX_MARKS     64

/* The name of all windows from the first to the last. */
struct window_mark {
	char name[WINDOWS_MARK_NAME_MAX + 1];
	int64_t first, last;
	uint64_t n_windows, samples, lost;
	uint64_t since_us, until_us; /* of its windows */
	uint64_t made_us;
	uint32_t uid; /* who made it */
};

/* Oldest first; the open window is the last. Of the marks, which are all there are, windows may be
 * missing. */
struct windows {
	struct window_info *rows;
	size_t n, cap;
	struct window_mark *marks; /* by name */
	size_t n_marks;
};

void windows_done(struct windows *windows);

/* Keeps the list sorted, in any order of calls. -ENOMEM. */
int windows_add(struct windows *windows, const struct window_info *window);

/* Copies a mark; of more than WINDOWS_MAX_MARKS the last are left out. -ENOMEM. */
int windows_add_mark(struct windows *windows, const struct window_mark *mark);
/* NULL: there is none. */
const struct window_mark *windows_find_mark(const struct windows *windows, const char *name);
bool windows_is_marked(const struct window_mark *mark, const struct window_info *window);

/* At most one window more is open. */
size_t windows_n_closed(const struct windows *windows);
uint64_t windows_samples(const struct windows *windows);
/* The number of lost samples. */
uint64_t windows_lost(const struct windows *windows);
uint64_t windows_end_us(const struct window_info *window);

/*
 * The time without the daemon between two windows; 0: there is none. One window follows the other
 * within milliseconds, so that less than a second does not count.
 */
uint64_t windows_gap_us(const struct window_info *before, const struct window_info *after);
