/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/config/value.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util/macro.h"

struct unit {
	const char *name;
	double factor;
};

int config_value_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "yes", "y", "true", "t", "on", "1" };
	static const char *const no[] = { "no", "n", "false", "f", "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0)
			return (*ret = true), 0;
		if (strcasecmp(text, no[i]) == 0)
			return (*ret = false), 0;
	}
	return -EINVAL;
}

int config_value_count(const char *text, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*ret = value;
	return 0;
}

/* A decimal number without sign, exponent or name; where it ends is *@text then. */
static int read_number(const char **text, double *ret)
{
	size_t n = strspn(*text, "0123456789.");
	char digits[32], *end;

	if (n == 0 || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, *text, n);
	digits[n] = '\0';
	*ret = strtod(digits, &end);
	if (*end || end == digits)
		return -EINVAL;
	*text += n;
	return 0;
}

int config_value_percent(const char *text, double *ret)
{
	int r = read_number(&text, ret);

	if (r < 0)
		return r;
	text += strspn(text, " \t");
	return strcmp(text, "%") == 0 ? 0 : -EINVAL;
}

/* Reads NUMBER UNIT and moves *@text behind it and the space that follows. */
static int read_quantity(const char **text, const struct unit *units, size_t n_units, double *ret)
{
	const char *name;
	size_t n;
	int r;

	r = read_number(text, ret);
	if (r < 0)
		return r;
	*text += strspn(*text, " \t");
	name = *text;
	n = strcspn(name, " \t0123456789.");
	*text += n;
	*text += strspn(*text, " \t");
	for (size_t i = 0; i < n_units; i++) {
		if (strlen(units[i].name) != n || strncmp(units[i].name, name, n) != 0)
			continue;
		*ret *= units[i].factor;
		return 0;
	}
	return -EINVAL;
}

static int to_count(double value, uint64_t *ret)
{
	if (value >= 0x1p62)
		return -ERANGE;
	*ret = (uint64_t)value;
	return 0;
}

int config_value_bytes(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1 },       { "B", 1 },      { "K", 0x1p10 },
		{ "M", 0x1p20 }, { "G", 0x1p30 }, { "T", 0x1p40 },
	};
	double value;
	int r;

	if (strcmp(text, "infinity") == 0)
		return (*ret = 0), 0;
	r = read_quantity(&text, units, ARRAY_SIZE(units), &value);
	if (r < 0 || *text)
		return -EINVAL;
	return to_count(value, ret);
}

int config_value_span_us(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1e6 },          { "us", 1 },           { "usec", 1 },
		{ "ms", 1e3 },        { "msec", 1e3 },       { "s", 1e6 },
		{ "sec", 1e6 },       { "second", 1e6 },     { "seconds", 1e6 },
		{ "m", 60e6 },        { "min", 60e6 },       { "minute", 60e6 },
		{ "minutes", 60e6 },  { "h", 3600e6 },       { "hr", 3600e6 },
		{ "hour", 3600e6 },   { "hours", 3600e6 },   { "d", 86400e6 },
		{ "day", 86400e6 },   { "days", 86400e6 },   { "w", 604800e6 },
		{ "week", 604800e6 }, { "weeks", 604800e6 },
	};
	double sum = 0, value;
	int r;

	do {
		r = read_quantity(&text, units, ARRAY_SIZE(units), &value);
		if (r < 0)
			return r;
		sum += value;
	} while (*text);
	return to_count(sum, ret);
}
