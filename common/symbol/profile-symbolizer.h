/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbolizes a profile: adds the functions of all its locations, with their fingerprints.
 *
 * The symbol caches, which earlier profiles filled, are used first. Where they do not suffice the
 * symbols are read, of as many objects as fit in memory; the other objects wait for another pass
 * over the profile.
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"
#include "common/symbol/object-cache.h"

/*
 * Adds the functions to @profile, and the symbols found to @cache, which grows to about @max_bytes
 * meanwhile; long names are truncated when they take too much of that. Reads at most
 * @max_code_bytes of code for new fingerprints, which take more time than everything else, and a
 * small part of that for functions that are seldom used. 0 or -ENOMEM; an object without symbols is
 * no error.
 */
int profile_symbolizer_run(struct object_cache *cache, size_t max_bytes, size_t max_code_bytes,
			   struct profile *profile);
