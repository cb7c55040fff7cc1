/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The buffer starts small, doubles up to a message of the allowed length, and is given back when it
 * was drained after a long one, so that idle connections cost next to nothing. No byte is searched
 * twice for the NUL.
 */
#include "common/protocol/framing.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

#define FIRST_BYTES 4096
#define KEPT_BYTES  65536 /* a drained buffer larger than this is freed */

void framing_init(struct framing *framing, size_t max_bytes)
{
	*framing = (struct framing){ .max_bytes = max_bytes };
}

void framing_done(struct framing *framing)
{
	free(framing->bytes);
	*framing = (struct framing){ .max_bytes = framing->max_bytes };
}

static void move_to_front(struct framing *f)
{
	if (f->start == 0)
		return;
	memmove(f->bytes, f->bytes + f->start, f->end - f->start);
	f->end -= f->start;
	f->searched -= f->start;
	f->start = 0;
}

/* The NUL of the message that has begun, or NULL. */
static char *find_end(struct framing *f)
{
	char *nul = NULL;

	if (f->searched < f->end)
		nul = memchr(f->bytes + f->searched, '\0', f->end - f->searched);
	f->searched = nul ? (size_t)(nul - f->bytes) : f->end;
	return nul;
}

int framing_reserve(struct framing *framing, char **ret, size_t *ret_n)
{
	size_t held = framing->end - framing->start, cap;
	char *bytes;

	if (held == 0 && framing->cap > KEPT_BYTES)
		framing_done(framing);
	/* one byte more is the NUL */
	if (held > framing->max_bytes && !find_end(framing))
		return -EMSGSIZE;
	if (framing->cap)
		move_to_front(framing);
	if (framing->end == framing->cap) {
		cap = MAX(framing->cap * 2, (size_t)FIRST_BYTES);
		if (cap > framing->max_bytes && held <= framing->max_bytes)
			cap = framing->max_bytes + 1;
		bytes = realloc(framing->bytes, cap);
		if (!bytes)
			return -ENOMEM;
		framing->bytes = bytes;
		framing->cap = cap;
	}
	*ret = framing->bytes + framing->end;
	*ret_n = framing->cap - framing->end;
	return 0;
}

void framing_fill(struct framing *framing, size_t n)
{
	assert(n <= framing->cap - framing->end);
	framing->end += n;
}

int framing_next(struct framing *framing, char **ret, size_t *ret_n)
{
	const char *nul = find_end(framing);
	size_t n = framing->searched - framing->start;

	if (n > framing->max_bytes)
		return -EMSGSIZE;
	if (!nul)
		return 0;
	*ret = framing->bytes + framing->start;
	*ret_n = n;
	framing->start += n + 1;
	framing->searched = framing->start;
	return 1;
}

bool framing_has_message(struct framing *framing)
{
	return find_end(framing) || framing->searched - framing->start > framing->max_bytes;
}

bool framing_holds_bytes(const struct framing *framing)
{
	return framing->end > framing->start;
}
