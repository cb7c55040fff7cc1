/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of windows that the daemon has, as it tells them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_info {
	int64_t id; /* 0: of the one still open */
	uint64_t start_us;
	uint64_t length_us;
	uint64_t samples;
	uint64_t lost;
	bool open;
	char mode[32];
};

/* Oldest first; one that is open is the last. */
struct windows {
	struct window_info *rows;
	size_t n, cap;
};

void windows_done(struct windows *windows);

/* -ENOMEM. Keeps the order whatever that of the calls. */
int windows_add(struct windows *windows, const struct window_info *window);

/* The closed ones; the others are one at most. */
size_t windows_n_closed(const struct windows *windows);
/* Samples that are in none of them. */
uint64_t windows_lost(const struct windows *windows);
uint64_t window_end_us(const struct window_info *window);
