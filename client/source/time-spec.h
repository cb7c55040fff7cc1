/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A spec in words: "10:00", "yesterday-10:00", "2026-11-20 10:00:30", "-5min", "now".
 *
 * Words are about the local time zone. What a clock says when it is put forward never was, and is
 * read as if it had not been put; what it says twice when it is put back is either time, as the
 * asker likes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct time_spec {
	bool is_exact;    /* "now" and "-5min": @us is all there is to it */
	bool has_date;    /* else the date is today's */
	bool has_time;    /* else it is the day's beginning */
	uint64_t us;      /* since 1970 */
	int64_t day;      /* since 1970-01-01, in local time */
	uint32_t seconds; /* since the day's beginning, by the clock */
};

/* -EINVAL where @text is no spec. @now_us is the time now, CLOCK_REALTIME. */
int time_spec_parse(struct time_spec *ret, const char *text, uint64_t now_us);

/* Does @text begin like one? Then it can be nothing else, no name. */
bool time_spec_is_likely(const char *text);

/* Microseconds since 1970; of two possible times the later if @late. */
uint64_t time_spec_us(const struct time_spec *spec, bool late);

/* "2026-11-20 10:00:30", or without a date that is the one of @now_us. */
#define TIME_SPEC_TEXT_MAX 32
const char *time_spec_format(char text[TIME_SPEC_TEXT_MAX], uint64_t us, uint64_t now_us);
