/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Naming a profile: the functions of all places in it, and their fingerprints.
 *
 * What is known of an object from profiles named before is used first. Symbols are read where that
 * does not do, of so many objects at a time as the memory allows; the rest wait for another walk.
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"
#include "common/symbol/object-cache.h"

/*
 * Adds the functions to @profile, and what was found out to @cache, whose symbols take about
 * @max_bytes in between. Of at most @max_code_bytes of code new fingerprints are taken; they take
 * longer than all else. 0 or -ENOMEM: an object without symbols is no error.
 */
int profile_symbolizer_run(struct object_cache *cache, size_t max_bytes, size_t max_code_bytes,
			   struct profile *profile);
