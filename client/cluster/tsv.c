/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/tsv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char unescape(char c)
{
	static const char from[] = "tnrbf", to[] = "\t\n\r\b\f";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c;
}

/* Cuts the cell at @at; *@ret_end is the character behind it. A NUL within it is left out. */
static char *take_cell(char *at, char *ret_end)
{
	char *to = at;

	for (; *at && *at != '\t' && *at != '\n'; at++) {
		if (*at != '\\' || !at[1])
			*to++ = *at;
		else if (*++at != '0')
			*to++ = unescape(*at);
	}
	*ret_end = *at;
	*to = '\0';
	return *ret_end ? at + 1 : at;
}

int tsv_next(struct tsv *tsv, char **ret, size_t n)
{
	char end = '\0';

	if (!*tsv->at)
		return 0;
	for (size_t i = 0; i < n; i++) {
		ret[i] = tsv->at;
		tsv->at = take_cell(tsv->at, &end);
		if (end != (i + 1 < n ? '\t' : '\n'))
			return -EBADMSG;
	}
	return 1;
}

int tsv_number(const char *cell, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(cell, &end, 10);
	return isdigit((unsigned char)*cell) && !*end && errno == 0 ? 0 : -EBADMSG;
}
