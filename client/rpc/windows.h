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

/* Oldest first; the open window is the last. */
struct windows {
	struct window_info *rows;
	size_t n, cap;
};

void windows_done(struct windows *windows);

/* Keeps the list sorted, in any order of calls. -ENOMEM. */
int windows_add(struct windows *windows, const struct window_info *window);

/* At most one window more is open. */
size_t windows_n_closed(const struct windows *windows);
/* The number of lost samples. */
uint64_t windows_lost(const struct windows *windows);
uint64_t windows_end_us(const struct window_info *window);
