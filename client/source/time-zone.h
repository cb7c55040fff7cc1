/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time zones of time specifications: the local one, "UTC", "Z", "+02:00", "Europe/Berlin". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum time_zone_kind {
	TIME_ZONE_LOCAL,
	TIME_ZONE_FIXED, /* @offset from UTC */
	TIME_ZONE_NAMED, /* in the database of time zones */
};

struct time_zone {
	enum time_zone_kind kind;
	int32_t offset; /* seconds */
	char name[48];
};

/* False if @text is no time zone, or none that this machine knows. */
bool time_zone_parse(struct time_zone *ret, const char *text);

/*
 * The time of its clocks at @t (seconds since 1970), as if it were UTC. Sets TZ meanwhile if the
 * zone is a named one, so no other thread may use the local time then.
 */
int64_t time_zone_clock(const struct time_zone *zone, int64_t t);
