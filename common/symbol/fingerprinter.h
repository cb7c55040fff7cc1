/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fingerprinter takes the fingerprints of cached functions, each once, when a profile with the
 * function is symbolized. It closes the files afterwards.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/object-cache.h"

struct fingerprinter {
	struct object_cache *cache;
	size_t n_left; /* bytes of code that may still be read */
	struct disassembler *disassembler;
	uint16_t machine; /* of the disassembler */
	uint8_t *buffer;
};

/* Reads at most @max_bytes of code. */
void fingerprinter_init(struct fingerprinter *fingerprinter, struct object_cache *cache,
			size_t max_bytes);
void fingerprinter_done(struct fingerprinter *fingerprinter);

/*
 * Takes the missing fingerprints of the marked functions of @object, whose entry of the cache is
 * @cached. A fingerprint that cannot be taken is 0, and is not tried again. 0 or -ENOMEM.
 */
int fingerprinter_take(struct fingerprinter *fingerprinter, const struct profile_object *object,
		       struct cached_object *cached);
