/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells stitching where functions are: by the unwind tables and names of a symbolizer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/stitch/function-range.h"

/* An object_function_finder; @symbolizer is a struct symbolizer. */
bool function_ranges_find(void *symbolizer, const struct profile_object *object, uint64_t offset,
			  struct function_range *ret);
