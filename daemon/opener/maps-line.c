/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/maps-line.h"

#include <stdlib.h>
#include <string.h>

/* The kernel escapes no other character, not even the backslash. */
#define NEWLINE "\\012"

/* Decodes, in place, the newlines that the kernel escapes in a path. */
static void decode(char *path)
{
	char *to = path, *at;

	while ((at = strstr(path, NEWLINE))) {
		memmove(to, path, (size_t)(at - path));
		to += at - path;
		*to++ = '\n';
		path = at + strlen(NEWLINE);
	}
	memmove(to, path, strlen(path) + 1);
}

static bool skip_char(char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

bool maps_line_parse(char *line, struct maps_line *ret)
{
	struct maps_line m = {};
	char *at = line;

	m.start = strtoull(at, &at, 16);
	if (!skip_char(&at, '-'))
		return false;
	m.end = strtoull(at, &at, 16);
	if (strlen(at) < sizeof(" r-xp ") - 1)
		return false;
	m.executable = at[3] == 'x';
	m.file_offset = strtoull(at + sizeof(" r-xp ") - 1, &at, 16);
	m.major = (uint32_t)strtoul(at, &at, 16);
	if (!skip_char(&at, ':'))
		return false;
	m.minor = (uint32_t)strtoul(at, &at, 16);
	m.inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = '\0';
	decode(at);
	m.path = at;
	*ret = m;
	return true;
}
