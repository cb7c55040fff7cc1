/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A month is a twelfth of a year, a year 365.25 days, as in systemd.time(7). */
#include "client/source/time-span.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "common/util/macro.h"

#define MS     1000ull
#define S      (1000 * MS)
#define MINUTE (60 * S)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define WEEK   (7 * DAY)
#define MONTH  (YEAR / 12)
#define YEAR   (1461 * DAY / 4)

#define MAX_DIGITS 9

static const struct unit {
	const char *name;
	uint64_t us;
} units[] = {
	{ "us", 1 },         { "usec", 1 },     { "ms", MS },         { "msec", MS },
	{ "s", S },          { "sec", S },      { "second", S },      { "seconds", S },
	{ "m", MINUTE },     { "min", MINUTE }, { "minute", MINUTE }, { "minutes", MINUTE },
	{ "h", HOUR },       { "hr", HOUR },    { "hour", HOUR },     { "hours", HOUR },
	{ "d", DAY },        { "day", DAY },    { "days", DAY },      { "w", WEEK },
	{ "week", WEEK },    { "weeks", WEEK }, { "M", MONTH },       { "month", MONTH },
	{ "months", MONTH }, { "y", YEAR },     { "year", YEAR },     { "years", YEAR },
};

static bool take_unit(const char **text, uint64_t *ret)
{
	size_t n = 0;

	while (isalpha((unsigned char)(*text)[n]))
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == n && strncmp(*text, units[i].name, n) == 0) {
			*text += n;
			*ret = units[i].us;
			return true;
		}
	return false;
}

/* Reads 1 to MAX_DIGITS digits; *@ret_scale is 10 to the power of their number. */
static bool take_digits(const char **text, uint64_t *ret, uint64_t *ret_scale)
{
	size_t n = 0;

	*ret = 0;
	*ret_scale = 1;
	for (; isdigit((unsigned char)(*text)[n]); n++) {
		if (n == MAX_DIGITS)
			return false;
		*ret = *ret * 10 + (uint64_t)((*text)[n] - '0');
		*ret_scale *= 10;
	}
	*text += n;
	return n > 0;
}

static void skip_blanks(const char **text)
{
	*text += strspn(*text, " ");
}

static bool take_one(const char **text, uint64_t *ret)
{
	uint64_t n, unit, whole, fraction = 0, unused, scale = 1;

	if (!take_digits(text, &n, &unused))
		return false;
	if (**text == '.') {
		(*text)++;
		if (!take_digits(text, &fraction, &scale))
			return false;
	}
	skip_blanks(text);
	if (!take_unit(text, &unit) || __builtin_mul_overflow(n, unit, &whole))
		return false;
	return !__builtin_add_overflow(
		whole, (uint64_t)((double)fraction / (double)scale * (double)unit + 0.5), ret);
}

bool time_span_take(const char **text, uint64_t *ret_us)
{
	const char *end = *text;
	uint64_t us, sum = 0;

	do {
		if (!take_one(&end, &us) || __builtin_add_overflow(sum, us, &sum))
			return false;
		*text = end;
		skip_blanks(&end);
	} while (isdigit((unsigned char)*end));
	*ret_us = sum;
	return true;
}
