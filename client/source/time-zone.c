/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/time-zone.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/util/cleanup.h"

#define DATABASE "/usr/share/zoneinfo"

static bool is_two_digits(const char *text)
{
	return isdigit((unsigned char)text[0]) && isdigit((unsigned char)text[1]);
}

static int two_digits(const char *text)
{
	return 10 * (text[0] - '0') + text[1] - '0';
}

/* "+02:00", "-0330" */
static bool parse_offset(struct time_zone *ret, const char *text)
{
	int sign = *text == '-' ? -1 : 1, minutes;

	if (!strchr("+-", *text) || !is_two_digits(text + 1))
		return false;
	text += 3;
	text += *text == ':';
	if (!is_two_digits(text) || text[2] != '\0' || two_digits(text) > 59)
		return false;
	minutes = 60 * two_digits(text - (text[-1] == ':') - 2) + two_digits(text);
	*ret = (struct time_zone){ .kind = TIME_ZONE_FIXED, .offset = sign * minutes * 60 };
	return minutes <= 24 * 60;
}

static bool is_name(const char *text)
{
	if (!isupper((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("/_+-", *text))
			return false;
	return true;
}

bool time_zone_parse(struct time_zone *ret, const char *text)
{
	struct time_zone zone = { .kind = TIME_ZONE_NAMED };
	char path[sizeof(DATABASE) + sizeof(zone.name)];
	struct stat st;

	if (strcmp(text, "UTC") == 0 || strcmp(text, "Z") == 0) {
		*ret = (struct time_zone){ .kind = TIME_ZONE_FIXED };
		return true;
	}
	if (*text == '\0' || strlen(text) >= sizeof(zone.name))
		return false;
	if (strchr("+-", *text))
		return parse_offset(ret, text);
	if (!is_name(text))
		return false;
	strcpy(zone.name, text);
	snprintf(path, sizeof(path), DATABASE "/%s", text);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*ret = zone;
	return true;
}

static int64_t local_clock(int64_t t)
{
	time_t seconds = (time_t)t;
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return t;
	return t + tm.tm_gmtoff;
}

static int64_t named_clock(const char *name, int64_t t)
{
	const char *local = getenv("TZ");
	_cleanup_free_ char *saved = local ? strdup(local) : NULL;
	int64_t clock;

	if (local && !saved)
		return t;
	setenv("TZ", name, 1);
	tzset();
	clock = local_clock(t);
	if (saved)
		setenv("TZ", saved, 1);
	else
		unsetenv("TZ");
	tzset();
	return clock;
}

int64_t time_zone_clock(const struct time_zone *zone, int64_t t)
{
	switch (zone->kind) {
	case TIME_ZONE_FIXED:
		return t + zone->offset;
	case TIME_ZONE_NAMED:
		return named_clock(zone->name, t);
	default:
		return local_clock(t);
	}
}
