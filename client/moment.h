/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A moment in words: "10:00", "yesterday-10:00", "2026-11-20 10:00:30", "-5min", "now".
 *
 * Words are about the local time zone. What a clock says when it is put forward never was, and is read
 * as if it had not been put; what it says twice when it is put back is either time, as the asker
 * likes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct moment {
	bool is_exact;    /* "now" and "-5min": @us is all there is to it */
	bool has_date;    /* else the date is today's */
	bool has_time;    /* else it is the day's beginning */
	uint64_t us;      /* since 1970 */
	int64_t day;      /* since 1970-01-01, in local time */
	uint32_t seconds; /* since the day's beginning, by the clock */
};

/* -EINVAL where @text is no moment. @now_us is the time now, CLOCK_REALTIME. */
int moment_parse(struct moment *ret, const char *text, uint64_t now_us);

/* Does @text begin like one? Then it can be nothing else, no name. */
bool moment_is_meant(const char *text);

/* Microseconds since 1970; of two possible times the later if @late. */
uint64_t moment_us(const struct moment *moment, bool late);

/* "2026-11-20 10:00:30", or without a date that is the one of @now_us. */
#define MOMENT_TEXT_MAX 32
const char *moment_format(char text[MOMENT_TEXT_MAX], uint64_t us, uint64_t now_us);
