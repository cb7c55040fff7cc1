/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store keeps each function's code once, so that sending it again is a waste, but no error: a
 * hash may be forgotten. All are, from time to time, because the store may have lost its database.
 */
#include "daemon/naming/code-reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/window/hot-functions.h"

#define FORGET_US 3600000000ull

static uint64_t hash(const struct profile_object *object, uint64_t start)
{
	uint64_t h = 0xcbf29ce484222325 ^ start ^ object->inode ^ object->ctime_ns;

	for (size_t i = 0; i < sizeof(object->build_id); i++)
		h = (h ^ object->build_id[i]) * 0x100000001b3;
	return h ?: 1;
}

static void forget_old(struct code_reader *reader)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	if (now - reader->since_us < FORGET_US)
		return;
	memset(reader->known, 0, sizeof(reader->known));
	reader->since_us = now;
}

/* 0, with or without its code, or -ENOMEM. */
static int read_one(struct symbolizer *symbols, const struct profile *p,
		    const struct profile_function *function, uint8_t *buffer,
		    struct window_code *code)
{
	const struct profile_object *object = &p->objects[function->object];
	uint16_t machine;
	int n = symbolizer_code(symbols, object, function->start, buffer, (size_t)function->size,
				&machine);

	if (n <= 0 || (uint64_t)n < function->size)
		return MIN(n, 0);
	return window_code_add(code, p, function, machine, buffer, (size_t)n);
}

int code_reader_read(struct code_reader *reader, struct symbolizer *symbols,
		     const struct profile *profile, struct window_code **code)
{
	_cleanup_free_ uint8_t *buffer = malloc(HOT_FUNCTIONS_MAX_BYTES);
	size_t hot[HOT_FUNCTIONS_MAX], n;
	int r = buffer ? hot_functions_find(profile, hot, &n) : -ENOMEM;

	forget_old(reader);
	if (r >= 0 && n > 0 && !*code)
		r = (*code = window_code_new()) ? 0 : -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct profile_function *f = &profile->functions[hot[i]];
		uint64_t h = hash(&profile->objects[f->object], f->start);
		uint64_t *place = &reader->known[h % CODE_READER_PLACES];

		if (*place == h)
			continue;
		*place = h;
		r = read_one(symbols, profile, f, buffer, *code);
	}
	return MIN(r, 0);
}
