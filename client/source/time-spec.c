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
#include <string.h>
#include <strings.h>
#include <time.h>

#include "client/source/time-span.h"
#include "common/util/macro.h"

#define US          1000000ull
#define DAY_SECONDS 86400
#define DAY_US      (DAY_SECONDS * US)

/* A time of the year 3000 has fewer digits, so no sum of two overflows. */
#define MAX_US (1ull << 55)

/* "@1795168830", but not "@5", which someone wrote for @-5. */
#define MIN_EPOCH 100000000u

static const char *const weekdays[][2] = {
	{ "Thu", "Thursday" }, { "Fri", "Friday" },  { "Sat", "Saturday" },  { "Sun", "Sunday" },
	{ "Mon", "Monday" },   { "Tue", "Tuesday" }, { "Wed", "Wednesday" },
};

static int64_t day_of(const struct time_zone *zone, uint64_t us)
{
	return time_zone_clock(zone, (int64_t)(us / US)) / DAY_SECONDS;
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

	if (strncasecmp(*text, word, n) != 0 || isalnum((unsigned char)(*text)[n]))
		return false;
	*text += n;
	return true;
}

/* Behind a point: digits of a second, of which six count. */
static bool take_fraction(const char **text, uint64_t *ret_us)
{
	uint64_t scale = US / 10;

	*ret_us = 0;
	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		*ret_us += (uint64_t)(**text - '0') * scale;
		scale /= 10;
	}
	return true;
}

/* "10:00", "10:00:30", "10:00:30.25" */
static bool take_clock(const char **text, struct time_spec *spec)
{
	uint64_t hour, minute, second = 0, fraction = 0;

	spec->is_day = false;
	spec->length_us = 60 * US;
	if (!take_number(text, 1, 2, &hour) || !take_char(text, ':') ||
	    !take_number(text, 2, 2, &minute))
		return false;
	if (take_char(text, ':')) {
		spec->length_us = US;
		if (!take_number(text, 2, 2, &second))
			return false;
		if (take_char(text, '.')) {
			spec->length_us = 1;
			if (!take_fraction(text, &fraction))
				return false;
		}
	}
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	spec->clock_us = (hour * 3600 + minute * 60 + second) * US + fraction;
	return true;
}

/* "2026-11-20", "26-11-20" */
static bool take_calendar(const char **text, struct time_spec *spec)
{
	bool is_short = strspn(*text, "0123456789") == 2;
	uint64_t year, month, day;
	struct tm tm = {};

	if (!take_number(text, is_short ? 2 : 4, 4, &year) || !take_char(text, '-') ||
	    !take_number(text, 2, 2, &month) || !take_char(text, '-') ||
	    !take_number(text, 2, 2, &day))
		return false;
	if (is_short)
		year += year < 70 ? 2000 : 1900;
	if (year < 1970)
		return false;
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	spec->day = timegm(&tm) / DAY_SECONDS;
	/* the 31st of June is not the 1st of July */
	return tm.tm_mon == (int)month - 1 && tm.tm_mday == (int)day;
}

/* "Fri 2026-11-20": *@ret is the number of the day, from Thursday on; -1 if there is none. */
static bool take_weekday(const char **text, int *ret)
{
	*ret = -1;
	for (size_t i = 0; i < ARRAY_SIZE(weekdays); i++)
		if (take_word(text, weekdays[i][0]) || take_word(text, weekdays[i][1])) {
			*ret = (int)i;
			return take_char(text, ' ');
		}
	return true;
}

static bool take_date(const char **text, struct time_spec *spec)
{
	int weekday;

	spec->has_date = true;
	if (take_word(text, "today"))
		return true;
	if (take_word(text, "yesterday")) {
		spec->day--;
		return true;
	}
	if (take_word(text, "tomorrow")) {
		spec->day++;
		return true;
	}
	return take_weekday(text, &weekday) && take_calendar(text, spec) &&
	       (weekday < 0 || spec->day % 7 == weekday); /* 1970-01-01 was a Thursday */
}

static bool begins_with_clock(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && text[n] == ':';
}

/* "now", "-5min", "5min ago", "+5min", "@1795168830.5" */
static bool take_absolute(const char **text, struct time_spec *spec, uint64_t now_us)
{
	uint64_t us, fraction = 0;
	char sign = **text;

	spec->is_absolute = true;
	spec->us = now_us;
	spec->length_us = 1;
	if (take_word(text, "now"))
		return true;
	if (take_char(text, '@')) {
		spec->length_us = US;
		if (!take_number(text, 1, 10, &us) || us < MIN_EPOCH)
			return false;
		if (take_char(text, '.') && !take_fraction(text, &fraction))
			return false;
		spec->us = us * US + fraction;
		return true;
	}
	if (sign == '-' || sign == '+')
		(*text)++;
	if (!time_span_take(text, &us) || us > MAX_US)
		return false;
	if (sign == '+') {
		spec->us += us;
		return true;
	}
	if (us > now_us || (sign != '-' && (!take_char(text, ' ') || !take_word(text, "ago"))))
		return false;
	spec->us -= us;
	spec->length_us = MAX(us, 1ull);
	return true;
}

static bool take_date_and_clock(const char **text, struct time_spec *spec)
{
	if (begins_with_clock(*text))
		return take_clock(text, spec);
	if (!take_date(text, spec))
		return false;
	spec->is_day = true;
	if (!**text || !strchr(" T-", **text) || !begins_with_clock(*text + 1))
		return true;
	(*text)++;
	return take_clock(text, spec);
}

/*
 * Takes the zone off the end of @text: "10:00 UTC", "10:00Z", "10:00+02:00", "10:00 Europe/Berlin".
 * One west of Greenwich needs a T before: yesterday-10:00 has none.
 */
static void take_zone(char *text, struct time_zone *ret)
{
	char *blank = strrchr(text, ' '), *sign = strrchr(text, '+');
	size_t n = strlen(text);

	if (blank && time_zone_parse(ret, blank + 1)) {
		*blank = '\0';
	} else if (n > 1 && isdigit((unsigned char)text[n - 2]) && text[n - 1] == 'Z') {
		time_zone_parse(ret, "Z");
		text[n - 1] = '\0';
	} else {
		if (strchr(text, 'T') && n > 6 && text[n - 6] == '-' && text[n - 3] == ':')
			sign = text + n - 6;
		if (sign && sign > text && time_zone_parse(ret, sign))
			*sign = '\0';
	}
}

int time_spec_parse(struct time_spec *ret, const char *text, uint64_t now_us)
{
	struct time_spec spec = {};
	const char *rest = text;
	char words[96];
	size_t n = strlen(text);

	if (take_absolute(&rest, &spec, now_us) && *rest == '\0') {
		*ret = spec;
		return 0;
	}
	if (n >= sizeof(words))
		return -EINVAL;
	memcpy(words, text, n + 1);
	spec = (struct time_spec){};
	take_zone(words, &spec.zone);
	spec.day = day_of(&spec.zone, now_us);
	rest = words;
	if (!take_date_and_clock(&rest, &spec) || *rest != '\0')
		return -EINVAL;
	*ret = spec;
	return 0;
}

bool time_spec_is_likely(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return strchr("-+", *text) || strchr(text, ' ') ||
	       (n > 0 && (text[n] == ':' || text[n] == '-')) || take_word(&text, "now") ||
	       take_word(&text, "today") || take_word(&text, "yesterday") ||
	       take_word(&text, "tomorrow");
}

uint64_t time_spec_us(const struct time_spec *spec, bool late)
{
	int64_t clock = spec->day * DAY_SECONDS + (int64_t)(spec->clock_us / US);
	int64_t before = clock - DAY_SECONDS, after = clock + DAY_SECONDS, first, second;
	const struct time_zone *zone = &spec->zone;

	if (spec->is_absolute)
		return spec->us;
	first = clock - (time_zone_clock(zone, before) - before);
	second = clock - (time_zone_clock(zone, after) - after);
	if (late && time_zone_clock(zone, second) == clock)
		first = second;
	else if (time_zone_clock(zone, first) != clock && time_zone_clock(zone, second) == clock)
		first = second;
	return first > 0 ? (uint64_t)first * US + spec->clock_us % US : 0;
}

uint64_t time_spec_end_us(const struct time_spec *spec)
{
	struct time_spec next = *spec;

	if (spec->is_absolute || !spec->is_day)
		return time_spec_us(spec, false) + spec->length_us;
	next.day++;
	return time_spec_us(&next, false);
}

const char *time_spec_format(char text[TIME_SPEC_TEXT_MAX], uint64_t us, uint64_t now_us)
{
	time_t seconds = (time_t)(us / US);
	const struct time_zone local = {};
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    strftime(text, TIME_SPEC_TEXT_MAX,
		     day_of(&local, us) == day_of(&local, now_us) ? "%H:%M:%S" :
								    "%Y-%m-%d %H:%M:%S",
		     &tm) == 0)
		snprintf(text, TIME_SPEC_TEXT_MAX, "%lld s", (long long)seconds);
	return text;
}
