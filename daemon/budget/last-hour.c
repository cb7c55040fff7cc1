/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/budget/last-hour.h"

#define MINUTE_NS 60000000000ull

void last_hour_add(struct last_hour *hour, uint64_t end_ns, double seconds,
		   const struct last_hour_average *average)
{
	uint64_t number = end_ns / MINUTE_NS;
	struct last_hour_minute *minute = &hour->minutes[number % LAST_HOUR_MINUTES];

	if (minute->number != number)
		*minute = (struct last_hour_minute){ .number = number };
	minute->seconds += seconds;
	minute->used += seconds * average->share;
	minute->taken += seconds * average->taken;
}

struct last_hour_average last_hour_get(const struct last_hour *hour, uint64_t now_ns)
{
	struct last_hour_minute sum = { 0 };

	for (int i = 0; i < LAST_HOUR_MINUTES; i++) {
		const struct last_hour_minute *minute = &hour->minutes[i];

		if (minute->number + LAST_HOUR_MINUTES <= now_ns / MINUTE_NS)
			continue;
		sum.seconds += minute->seconds;
		sum.used += minute->used;
		sum.taken += minute->taken;
	}
	if (sum.seconds <= 0)
		return (struct last_hour_average){ 0 };
	return (struct last_hour_average){ sum.used / sum.seconds, sum.taken / sum.seconds };
}
