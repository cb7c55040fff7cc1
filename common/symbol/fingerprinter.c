/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/fingerprinter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/symbol/code.h"
#include "common/symbol/fingerprint.h"

void fingerprinter_init(struct fingerprinter *fingerprinter, struct object_cache *cache,
			size_t max_bytes)
{
	*fingerprinter = (struct fingerprinter){
		.cache = cache,
		.n_left = max_bytes ?: SIZE_MAX,
	};
}

void fingerprinter_done(struct fingerprinter *fingerprinter)
{
	disassembler_free(fingerprinter->disassembler);
	free(fingerprinter->buffer);
}

/* 1; 0 for a machine that is not known; -ENOMEM. */
static int prepare(struct fingerprinter *f, uint16_t machine)
{
	int r;

	if (!f->buffer)
		f->buffer = malloc(FINGERPRINT_MAX_BYTES);
	if (!f->buffer)
		return -ENOMEM;
	if (f->disassembler && f->machine == machine)
		return 1;
	f->disassembler = disassembler_free(f->disassembler);
	f->machine = machine;
	r = disassembler_new(&f->disassembler, machine);
	return r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

/* 0 where its code cannot be read wholly. */
static uint64_t fingerprint_of(struct fingerprinter *f, const struct cached_object *cached,
			       const struct known_stretch *function)
{
	size_t n = MIN(function->size, (uint64_t)FINGERPRINT_MAX_BYTES);
	uint64_t address;

	if (!elf_file_address(cached->file, function->start, &address) ||
	    code_read(cached->code, function->start, f->buffer, n) < n)
		return 0;
	return fingerprint_code(f->disassembler, f->buffer, n, address);
}

static bool is_missing(const struct known_stretch *stretch)
{
	return stretch->marked && stretch->name && !stretch->fingerprinted;
}

static bool is_any_missing(const struct known *known)
{
	for (size_t i = 0; i < known->n; i++)
		if (is_missing(&known->stretches[i]))
			return true;
	return false;
}

static void take_missing(struct fingerprinter *f, struct cached_object *cached, bool readable)
{
	for (size_t i = 0; i < cached->known.n && f->n_left > 0; i++) {
		struct known_stretch *stretch = &cached->known.stretches[i];

		if (!is_missing(stretch))
			continue;
		stretch->fingerprinted = true;
		if (!readable)
			continue;
		stretch->fingerprint = fingerprint_of(f, cached, stretch);
		f->n_left -= MIN(f->n_left, stretch->size);
	}
}

int fingerprinter_take(struct fingerprinter *f, const struct profile_object *object,
		       struct cached_object *cached)
{
	uint64_t low, high;
	int r;

	if (f->n_left == 0 || !is_any_missing(&cached->known))
		return 0;
	r = object_cache_seek_code(f->cache, object, cached);
	if (r >= 0 && cached->code && cached->file)
		r = prepare(f, code_machine(cached->code));
	if (r > 0) {
		elf_file_fixed_range(cached->file, &low, &high);
		disassembler_set_absolute(f->disassembler, low, high);
	}
	if (r >= 0)
		take_missing(f, cached, r > 0);
	object_cache_close_code(cached);
	return r < 0 ? r : 0;
}
