/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where in a record the decoder is. Every count that a record states is held against the bytes that
 * are left before it is believed: what takes or skips more than there is returns false, or NULL,
 * and moves nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const char *at, *end;
};

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline bool cursor_take(struct cursor *c, void *p, size_t n)
{
	if (cursor_left(c) < n)
		return false;
	memcpy(p, c->at, n);
	c->at += n;
	return true;
}

static inline bool cursor_skip(struct cursor *c, uint64_t n)
{
	if (cursor_left(c) < n)
		return false;
	c->at += n;
	return true;
}

/* @n elements of @size bytes, where they lie; NULL if they do not fit. */
static inline const void *cursor_take_array(struct cursor *c, uint64_t n, size_t size)
{
	const char *p = c->at;

	if (n > cursor_left(c) / size)
		return NULL;
	c->at += n * size;
	return p;
}

/* A string that ends within what is left. */
static inline const char *cursor_take_string(struct cursor *c)
{
	const char *s = c->at, *nul = memchr(s, '\0', cursor_left(c));

	if (!nul)
		return NULL;
	c->at = nul + 1;
	return s;
}
