/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/window/window-code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

struct window_code *window_code_new(void)
{
	return calloc(1, sizeof(struct window_code));
}

struct window_code *window_code_free(struct window_code *code)
{
	if (!code)
		return NULL;
	for (size_t i = 0; i < code->n; i++)
		free(code->pieces[i].bytes);
	free(code->pieces);
	free(code);
	return NULL;
}

/* Takes the bytes of @piece over. 0 or -ENOMEM. */
static int append(struct window_code *code, struct code_piece *piece)
{
	if (code->n_bytes + piece->n_bytes > WINDOW_CODE_MAX_BYTES) {
		free(piece->bytes);
		return 0;
	}
	if (ARRAY_RESERVE(&code->pieces, &code->cap, code->n + 1) < 0) {
		free(piece->bytes);
		return -ENOMEM;
	}
	code->pieces[code->n++] = *piece;
	code->n_bytes += piece->n_bytes;
	return 0;
}

int window_code_add(struct window_code *code, const struct profile *profile,
		    const struct profile_function *function, uint16_t machine, const void *bytes,
		    size_t n)
{
	const struct profile_object *object = &profile->objects[function->object];
	struct code_piece piece = {
		.n_build_id = object->n_build_id,
		.inode = object->untrusted ? object->inode : 0,
		.ctime_ns = object->ctime_ns,
		.machine = machine,
		.start = function->start,
		.n_bytes = n,
		.bytes = malloc(n ?: 1),
	};

	if (!piece.bytes)
		return -ENOMEM;
	memcpy(piece.build_id, object->build_id, sizeof(piece.build_id));
	memcpy(piece.bytes, bytes, n);
	return append(code, &piece);
}

static bool is_of(const struct code_piece *piece, const struct profile_object *object,
		  uint64_t start)
{
	return piece->start == start && piece->n_build_id == object->n_build_id &&
	       piece->inode == (object->untrusted ? object->inode : 0) &&
	       piece->ctime_ns == object->ctime_ns &&
	       memcmp(piece->build_id, object->build_id, sizeof(piece->build_id)) == 0;
}

const struct code_piece *window_code_find(const struct window_code *code,
					  const struct profile *profile,
					  const struct profile_function *function)
{
	const struct profile_object *object = &profile->objects[function->object];

	for (size_t i = 0; code && i < code->n; i++)
		if (is_of(&code->pieces[i], object, function->start))
			return &code->pieces[i];
	return NULL;
}

struct window_code *window_code_join(struct window_code *a, struct window_code *b)
{
	if (!a || !b)
		return a ? a : b;
	for (size_t i = 0; i < b->n; i++)
		(void)append(a, &b->pieces[i]);
	b->n = 0;
	window_code_free(b);
	return a;
}
