/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time specifications, as systemd.time(7) has them: "10:00", "yesterday-10:00", "-5min", "2h ago",
 * "Fri 2026-11-20 10:00:30.5 Europe/Berlin", "@1795168830", "now".
 *
 * Each names a span of time: a day, a minute, a second, what has passed since -5min, or a moment.
 * They are in local time, unless they name a zone. A time that the clock skips is read as if the
 * clock had not been put forward. A time that occurs twice is either one: see time_spec_us().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/source/time-zone.h"

struct time_spec {
	bool is_absolute;   /* "now", "-5min", "@1795168830": @us counts, not @day to @zone */
	bool has_date;      /* else the date is today's */
	bool is_day;        /* it names no time of the day: the start of the day */
	uint64_t us;        /* since 1970 */
	uint64_t length_us; /* of the span, but of a day; at least 1 */
	int64_t day;        /* since 1970-01-01, in the zone */
	uint64_t clock_us;  /* since the start of the day, by the clock */
	struct time_zone zone;
};

/* -EINVAL if @text is not a time. @now_us: CLOCK_REALTIME. */
int time_spec_parse(struct time_spec *ret, const char *text, uint64_t now_us);

/* True if @text starts like a time, or contains a blank, and so cannot be a name. */
bool time_spec_is_likely(const char *text);

/* The span's start, in microseconds since 1970; of two possible times the later one if @late. */
uint64_t time_spec_us(const struct time_spec *spec, bool late);

/* The first microsecond behind the span. */
uint64_t time_spec_end_us(const struct time_spec *spec);

/* "2026-11-20 10:00:30", without the date if it is that of @now_us. */
#define TIME_SPEC_TEXT_MAX 32
const char *time_spec_format(char text[TIME_SPEC_TEXT_MAX], uint64_t us, uint64_t now_us);
