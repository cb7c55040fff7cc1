/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A local time is converted with the offsets from UTC of a day before and a day after. Of the two
 * results those are right whose local time is the given one. This needs no names of time zones.
 */
#include "client/source/time-spec.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util/macro.h"

#define US          1000000ull
#define DAY_SECONDS 86400

static const struct unit {
	const char *name;
	uint64_t seconds;
} units[] = {
	{ "s", 1 },         { "sec", 1 },          { "second", 1 },
	{ "seconds", 1 },   { "m", 60 },           { "min", 60 },
	{ "minute", 60 },   { "minutes", 60 },     { "h", 3600 },
	{ "hr", 3600 },     { "hour", 3600 },      { "hours", 3600 },
	{ "d", 86400 },     { "day", 86400 },      { "days", 86400 },
	{ "w", 7 * 86400 }, { "week", 7 * 86400 }, { "weeks", 7 * 86400 },
};

/* The local time at @t, as if it were UTC. */
static int64_t local_seconds(int64_t t)
{
	time_t seconds = (time_t)t;
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return t;
	return t + tm.tm_gmtoff;
}

static int64_t local_day(uint64_t us)
{
	return local_seconds((int64_t)(us / US)) / DAY_SECONDS;
}

/* Reads @min to @max digits and moves past them. */
static bool take_number(const char **text, size_t min, size_t max, uint64_t *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < max && isdigit((unsigned char)(*text)[n]); n++)
		*ret = *ret * 10 + (uint64_t)((*text)[n] - '0');
	*text += n;
	return n >= min && !isdigit((unsigned char)**text);
}

static bool take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

static bool take_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0 || isalnum((unsigned char)(*text)[n]))
		return false;
	*text += n;
	return true;
}

static bool take_unit(const char **text, uint64_t *ret)
{
	size_t n = 0;

	while (isalpha((unsigned char)(*text)[n]))
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == n && strncmp(*text, units[i].name, n) == 0) {
			*text += n;
			*ret = units[i].seconds;
			return true;
		}
	return false;
}

/* "5min", "1h30min" */
static bool take_duration(const char **text, uint64_t *ret)
{
	uint64_t n, seconds;

	*ret = 0;
	do {
		if (!take_number(text, 1, 9, &n) || !take_unit(text, &seconds))
			return false;
		*ret += n * seconds;
	} while (**text != '\0');
	return true;
}

/* "10:00", "10:00:30" */
static bool take_clock(const char **text, struct time_spec *spec)
{
	uint64_t hour, minute, second = 0;

	if (!take_number(text, 1, 2, &hour) || !take_char(text, ':') ||
	    !take_number(text, 2, 2, &minute))
		return false;
	if (take_char(text, ':') && !take_number(text, 2, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	spec->has_time = true;
	spec->seconds = (uint32_t)(hour * 3600 + minute * 60 + second);
	return true;
}

/* "2026-11-20" */
static bool take_calendar(const char **text, struct time_spec *spec)
{
	uint64_t year, month, day;
	struct tm tm = {};
	time_t t;

	if (!take_number(text, 4, 4, &year) || !take_char(text, '-') ||
	    !take_number(text, 2, 2, &month) || !take_char(text, '-') ||
	    !take_number(text, 2, 2, &day) || year < 1970)
		return false;
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	t = timegm(&tm);
	spec->day = t / DAY_SECONDS;
	/* the 31st of June is not the 1st of July */
	return tm.tm_mon == (int)month - 1 && tm.tm_mday == (int)day;
}

static bool take_date(const char **text, struct time_spec *spec)
{
	spec->has_date = true;
	if (take_word(text, "today"))
		return true;
	if (take_word(text, "yesterday")) {
		spec->day--;
		return true;
	}
	return take_calendar(text, spec);
}

static bool begins_with_clock(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && text[n] == ':';
}

static bool take_spec(const char **text, struct time_spec *spec, uint64_t now_us)
{
	uint64_t seconds;

	if (**text == '-') {
		(*text)++;
		spec->is_exact = true;
		if (!take_duration(text, &seconds) || seconds > now_us / US)
			return false;
		spec->us = now_us - seconds * US;
		return true;
	}
	if (take_word(text, "now")) {
		spec->is_exact = true;
		spec->us = now_us;
		return true;
	}
	if (begins_with_clock(*text))
		return take_clock(text, spec);
	if (!take_date(text, spec))
		return false;
	if (**text == '\0')
		return true;
	if (!strchr(" T-", **text))
		return false;
	(*text)++;
	return take_clock(text, spec);
}

int time_spec_parse(struct time_spec *ret, const char *text, uint64_t now_us)
{
	struct time_spec spec = { .day = local_day(now_us) };

	if (!take_spec(&text, &spec, now_us) || *text != '\0')
		return -EINVAL;
	*ret = spec;
	return 0;
}

bool time_spec_is_likely(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return *text == '-' || (n > 0 && (text[n] == ':' || text[n] == '-')) ||
	       take_word(&text, "now") || take_word(&text, "today") ||
	       take_word(&text, "yesterday");
}

uint64_t time_spec_us(const struct time_spec *spec, bool late)
{
	int64_t clock = spec->day * DAY_SECONDS + spec->seconds;
	int64_t before = local_seconds(clock - DAY_SECONDS) - (clock - DAY_SECONDS);
	int64_t after = local_seconds(clock + DAY_SECONDS) - (clock + DAY_SECONDS);
	int64_t first = clock - before, second = clock - after;

	if (spec->is_exact)
		return spec->us;
	if (late && local_seconds(second) == clock)
		first = second;
	else if (local_seconds(first) != clock && local_seconds(second) == clock)
		first = second;
	return first > 0 ? (uint64_t)first * US : 0;
}

const char *time_spec_format(char text[TIME_SPEC_TEXT_MAX], uint64_t us, uint64_t now_us)
{
	time_t seconds = (time_t)(us / US);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    strftime(text, TIME_SPEC_TEXT_MAX,
		     local_day(us) == local_day(now_us) ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S",
		     &tm) == 0)
		snprintf(text, TIME_SPEC_TEXT_MAX, "%lld s", (long long)seconds);
	return text;
}
