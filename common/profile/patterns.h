/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of what a user asks for: with commas between them, numbers, or names and shell patterns
 * (fnmatch). A list has at most PATTERNS_MAX bytes; what is longer matches nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PATTERNS_MAX 1024

/*
 * True if @fits is true of one of @list, which has no commas in it. A comma within brackets does
 * not end a name: "f(int, long)", nor does that of "operator,". It takes time linear in the list.
 */
bool patterns_any(const char *list, bool (*fits)(const char *pattern, const void *userdata),
		  const void *userdata);

/* Names may have backslashes and brackets that are meant as they are. */
bool pattern_matches(const char *pattern, const char *name);

/* Whether one of the numbers in @list is @number. */
bool patterns_have_number(const char *list, int64_t number);

/* Whether @list has only numbers from 0 to @max, and one at least. */
bool patterns_are_numbers(const char *list, int64_t max);
