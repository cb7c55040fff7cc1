/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparison as qsort() wants it: negative, 0 or positive. */
#pragma once

#include <string.h>

/* Evaluates each argument twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Leaves the calling function with @comparison unless that is 0. */
#define RETURN_UNLESS_EQUAL(comparison) \
	do {                            \
		int _c = (comparison);  \
		if (_c != 0)            \
			return _c;      \
	} while (0)

/* NULL comes before all other strings. */
static inline int compare_strings(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	return strcmp(a, b);
}
