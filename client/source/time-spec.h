/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time specifications: "10:00", "yesterday-10:00", "2026-11-20 10:00:30", "-5min", "now".
 *
 * They are in local time. A time that the clock skips is read as if the clock had not been put
 * forward. A time that occurs twice is either one: see time_spec_us().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct time_spec {
	bool is_exact;    /* "now" and "-5min": only @us counts */
	bool has_date;    /* else the date is today's */
	bool has_time;    /* else the start of the day */
	uint64_t us;      /* since 1970 */
	int64_t day;      /* since 1970-01-01, in local time */
	uint32_t seconds; /* since the start of the day, by the clock */
};

/* -EINVAL if @text is not a time. @now_us: CLOCK_REALTIME. */
int time_spec_parse(struct time_spec *ret, const char *text, uint64_t now_us);

/* True if @text starts like a time and so cannot be a name. */
bool time_spec_is_likely(const char *text);

/* Microseconds since 1970; of two possible times the later one if @late. */
uint64_t time_spec_us(const struct time_spec *spec, bool late);

/* "2026-11-20 10:00:30", without the date if it is that of @now_us. */
#define TIME_SPEC_TEXT_MAX 32
const char *time_spec_format(char text[TIME_SPEC_TEXT_MAX], uint64_t us, uint64_t now_us);
