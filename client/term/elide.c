/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lengths are in bytes, so that a name that is not ASCII becomes a little too short. */
#include "client/term/elide.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

static const char dots[] = "...";
#define N_DOTS (sizeof(dots) - 1)

#define MAX_OFFSET 40 /* "+0x" with 16 digits, twice, and ".."; or a file and two lines */

static const char anonymous[] = "(anonymous namespace)";
static const char operator_word[] = "operator";

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* The length of a prefix whose brackets are part of the name, such as operator<<. */
static size_t plain_length(const char *text, bool in_word)
{
	size_t n = sizeof(operator_word) - 1;

	if (begins_with(text, anonymous))
		return sizeof(anonymous) - 1;
	if (in_word || !begins_with(text, operator_word) || isalnum((unsigned char)text[n]))
		return 0;
	if (begins_with(text + n, "()"))
		return n + 2;
	while (text[n] && strchr("<>=-!", text[n]))
		n++;
	return n;
}

/* The end of the bracket that @text opens; NULL if it stays open. */
static const char *bracket_end(const char *text)
{
	size_t depth = 0, n;

	for (; *text; text += n) {
		n = plain_length(text, false) ?: 1;
		if (n > 1 || begins_with(text, "->"))
			continue;
		if (strchr("<(", *text))
			depth++;
		else if (strchr(">)", *text) && --depth == 0)
			return text;
	}
	return NULL;
}

static const char *copy_bracket(const char *text, char **to)
{
	const char *end = bracket_end(text);

	if (!end)
		return NULL;
	*(*to)++ = *text++;
	if (end - text > 3)
		*to = mempcpy(*to, "...", 3);
	else
		*to = mempcpy(*to, text, (size_t)(end - text));
	*(*to)++ = *end;
	return end + 1;
}

/* False if brackets do not match. @to has room for all of @name. */
static bool drop_arguments(const char *name, char *to)
{
	const char *text = name;
	size_t n;

	while (text && *text) {
		bool in_word = text > name && (isalnum((unsigned char)text[-1]) || text[-1] == '_');

		n = plain_length(text, in_word);
		if (n == 0 && strchr("<(", *text) && text > name) {
			text = copy_bracket(text, &to);
			continue;
		}
		to = mempcpy(to, text, n ?: 1); /* Rust's <T as Trait>::f starts with one */
		text += n ?: 1;
	}
	*to = '\0';
	return text != NULL;
}

/* Where @name ends with characters of @set only. */
static const char *find_tail(const char *name, const char *set)
{
	const char *start = name + strlen(name);

	while (start > name && strchr(set, start[-1]))
		start--;
	return start;
}

/* The end of a location: "+0x12", of a block "+0x12..+0x20" or " file.c:12..20", or "". */
static const char *find_offset(const char *name)
{
	const char *start = find_tail(name, ".0123456789"), *offset;

	if (*start && start > name && start[-1] == ':' && (offset = strrchr(name, ' ')))
		return offset;
	start = find_tail(name, "+.x0123456789abcdef");
	offset = strstr(start, "+0x");
	return offset ?: name + strlen(name);
}

/* Drops outer namespaces and classes until the rest fits: "...::add(...)+0x1f". */
static void drop_qualifiers(char *name, size_t room)
{
	char *rest = name, *next;

	if (strlen(name) <= room)
		return;
	while (strlen(rest) + N_DOTS > room && (next = strstr(rest + 1, "::")))
		rest = next;
	if (rest < name + N_DOTS)
		return;
	memmove(name + N_DOTS, rest, strlen(rest) + 1);
	memcpy(name, dots, N_DOTS);
}

/* Shortens the name before its offset, between characters of UTF-8. */
static void shorten_name(char *name, size_t room)
{
	const char *offset = find_offset(name);
	size_t n_offset = strlen(offset), n;

	if (strlen(name) <= room || n_offset + N_DOTS >= room)
		return;
	n = room - n_offset - N_DOTS;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	while (n > 1 && name[n - 1] == '.') /* of ".part.0": one dot more says nothing */
		n--;
	memmove(name + n + N_DOTS, offset, n_offset + 1);
	memcpy(name + n, dots, N_DOTS);
}

char *elide_name(const char *name, size_t room)
{
	_cleanup_free_ char *text = strdup(name);
	const char *offset;

	if (!text || strlen(name) <= room)
		return TAKE_PTR(text);
	if (!drop_arguments(name, text))
		memcpy(text, name, strlen(name) + 1);
	drop_qualifiers(text, room);
	shorten_name(text, room);
	offset = find_offset(text);
	if (strlen(text) > room && *offset == ' ')
		return elide_path(offset + 1, room);
	return TAKE_PTR(text);
}

size_t elide_name_least(const char *name)
{
	size_t n = strlen(name), n_offset = strlen(find_offset(name));

	return n_offset > 0 && n_offset <= MAX_OFFSET ? MIN(n, n_offset + N_DOTS + 1) : 0;
}

char *elide_path(const char *path, size_t room)
{
	const char *rest = path, *slash;
	char *text;

	if (strlen(path) <= room)
		return strdup(path);
	while (strlen(rest) + N_DOTS > room && (slash = strchr(rest + 1, '/')))
		rest = slash;
	if (strlen(rest) + N_DOTS > room && room > N_DOTS)
		rest += strlen(rest) + N_DOTS - room;
	while (((unsigned char)*rest & 0xc0) == 0x80)
		rest++;
	return asprintf(&text, "%s%s", dots, rest) < 0 ? NULL : text;
}
