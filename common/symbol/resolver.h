/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resolves offsets of one object into functions: those of files by the parser, those of the kernel
 * in its symbol table. The results go to the object's symbol cache.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/object-cache.h"

/*
 * Adds the ranges with @n sorted offsets to the symbol cache of @object. 1; 0 if it has no symbols,
 * or its parser failed, which the cache reports as a problem from now on; or -ENOMEM.
 */
int resolver_add(struct object_cache *cache, struct cached_object *object, const uint64_t *offsets,
		 size_t n);

/*
 * Takes the missing fingerprints of the functions of @object with a weight of @least or more, until
 * *@n_left bytes of code were read. A fingerprint that cannot be taken is 0, and is not tried
 * again. 0 or -ENOMEM.
 */
int resolver_take_fingerprints(struct object_cache *cache, struct cached_object *object,
			       uint64_t least, size_t *n_left);
