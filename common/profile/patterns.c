/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/patterns.h"

#include <errno.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool is_operator(const char *list, size_t at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	return at >= n && memcmp(list + at - n, word, n) == 0;
}

/*
 * The length of the first of @list. Without the bracket that closes one, it ends at a comma, and
 * *@brackets is false: then brackets mean nothing in the rest of the list. So no list is looked at
 * more than twice.
 */
static size_t first_length(const char *list, bool *brackets)
{
	size_t depth = 0, at, comma = SIZE_MAX;

	for (at = 0; list[at]; at++) {
		char c = list[at];

		if (*brackets && strchr("([<{", c) && !is_operator(list, at))
			depth++;
		else if (strchr(")]>}", c) && depth > 0)
			depth--;
		if (c != ',' || is_operator(list, at))
			continue;
		if (depth == 0)
			return at;
		if (comma == SIZE_MAX)
			comma = at;
	}
	*brackets = depth == 0;
	return depth > 0 && comma < at ? comma : at;
}

bool patterns_any(const char *list, bool (*fits)(const char *pattern, const void *userdata),
		  const void *userdata)
{
	char pattern[PATTERNS_MAX + 1];
	bool brackets = true;
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = first_length(list, &brackets);
		if (n > PATTERNS_MAX)
			return false;
		memcpy(pattern, list, n);
		pattern[n] = '\0';
		if (fits(pattern, userdata))
			return true;
	}
	return false;
}

bool pattern_matches(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 ||
	       (strpbrk(pattern, "*?[") && fnmatch(pattern, name, FNM_NOESCAPE) == 0);
}

/* The number at @list, with @ret_next behind it and its comma; -1 if there is none. */
static int64_t read_number(const char *list, const char **ret_next)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(list, &end, 10);
	if (*list < '0' || *list > '9' || errno != 0 || (*end != '\0' && *end != ','))
		return -1;
	*ret_next = end + (*end == ',');
	return *end == ',' && end[1] == '\0' ? -1 : number;
}

bool patterns_have_number(const char *list, int64_t number)
{
	while (*list) {
		int64_t next = read_number(list, &list);

		if (next < 0 || next == number)
			return next >= 0;
	}
	return false;
}

bool patterns_are_numbers(const char *list, int64_t max)
{
	if (*list == '\0' || strlen(list) > PATTERNS_MAX)
		return false;
	while (*list) {
		int64_t number = read_number(list, &list);

		if (number < 0 || number > max)
			return false;
	}
	return true;
}
