/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/fingerprinter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/elf/code.h"
#include "common/elf/fingerprint.h"

#define PIECE_BYTES (64u << 10)
#define MAX_BYTES   (1u << 20) /* of a function; the rest counts by its size only */

void fingerprinter_init(struct fingerprinter *fingerprinter, struct object_cache *cache,
			size_t max_bytes)
{
	*fingerprinter = (struct fingerprinter){
		.cache = cache,
		.n_left = max_bytes,
	};
}

void fingerprinter_done(struct fingerprinter *fingerprinter)
{
	disassembler_free(fingerprinter->disassembler);
	free(fingerprinter->buffer);
}

/* 1; 0 for an unknown machine; -ENOMEM. */
static int prepare(struct fingerprinter *f, uint16_t machine)
{
	int r;

	if (!f->buffer)
		f->buffer = malloc(PIECE_BYTES);
	if (!f->buffer)
		return -ENOMEM;
	if (f->disassembler && f->machine == machine)
		return 1;
	f->disassembler = disassembler_free(f->disassembler);
	f->machine = machine;
	r = disassembler_new(&f->disassembler, machine);
	return r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

/* 0 if not all of its code can be read. */
static uint64_t fingerprint_of(struct fingerprinter *f, const struct cached_object *cached,
			       const struct symbol_cache_range *function)
{
	uint64_t limit = MIN(function->size, (uint64_t)MAX_BYTES), address;
	struct fingerprint fingerprint;
	size_t n;

	if (!loads_address(&cached->file->loads, function->start, &address))
		return 0;
	fingerprint_start(&fingerprint, f->disassembler, function->size, address);
	do {
		n = (size_t)MIN(limit - fingerprint.n_done, (uint64_t)PIECE_BYTES);
		if (code_read(cached->code, function->start + fingerprint.n_done, f->buffer, n) < n)
			return 0;
	} while (fingerprint_add(&fingerprint, f->buffer, n) > 0 && fingerprint.n_done < limit);
	return fingerprint_end(&fingerprint);
}

static bool is_missing(const struct symbol_cache_range *range)
{
	return range->marked && range->name && !range->fingerprinted;
}

static bool is_any_missing(const struct symbol_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		if (is_missing(&cache->ranges[i]))
			return true;
	return false;
}

static void take_missing(struct fingerprinter *f, struct cached_object *cached, bool readable)
{
	for (size_t i = 0; i < cached->symbol_cache.n && f->n_left > 0; i++) {
		struct symbol_cache_range *range = &cached->symbol_cache.ranges[i];

		if (!is_missing(range))
			continue;
		range->fingerprinted = true;
		if (!readable)
			continue;
		range->fingerprint = fingerprint_of(f, cached, range);
		f->n_left -= MIN(f->n_left, range->size);
	}
}

/* Reads the program headers again if they were dropped with the symbols. */
static int seek_headers(struct fingerprinter *f, const struct profile_object *object,
			struct cached_object *cached)
{
	if (cached->file || cached->why ||
	    (object->kind != OBJECT_FILE && object->kind != OBJECT_VDSO))
		return 0;
	return object_cache_get(f->cache, object, &cached);
}

int fingerprinter_take(struct fingerprinter *f, const struct profile_object *object,
		       struct cached_object *cached)
{
	uint64_t low, high;
	int r;

	if (f->n_left == 0 || !is_any_missing(&cached->symbol_cache))
		return 0;
	r = seek_headers(f, object, cached);
	if (r >= 0)
		r = object_cache_seek_code(f->cache, object, cached);
	if (r >= 0 && cached->code && cached->file)
		r = prepare(f, code_machine(cached->code));
	if (r > 0) {
		loads_fixed_range(&cached->file->loads, &low, &high);
		disassembler_set_absolute(f->disassembler, low, high);
	}
	if (r >= 0)
		take_missing(f, cached, r > 0);
	object_cache_close_code(cached);
	return r < 0 ? r : 0;
}
