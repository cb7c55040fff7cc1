/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fingerprinter: fingerprints of functions of objects that are in the cache, each taken once,
 * when a profile that it is in is named. Files are open only meanwhile.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/object-cache.h"

struct fingerprinter {
	struct object_cache *cache;
	size_t n_left; /* bytes of code that may still be looked at */
	struct disassembler *disassembler;
	uint16_t machine; /* it is of */
	uint8_t *buffer;
};

/* @max_bytes of code at most are looked at. */
void fingerprinter_init(struct fingerprinter *fingerprinter, struct object_cache *cache,
			size_t max_bytes);
void fingerprinter_done(struct fingerprinter *fingerprinter);

/*
 * Takes those that are missing of the marked functions of @object, which is @cached. One that
 * cannot be taken is 0 and not tried again. 0 or -ENOMEM.
 */
int fingerprinter_take(struct fingerprinter *fingerprinter, const struct profile_object *object,
		       struct cached_object *cached);
