/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the functions of processes by the objects that they map: for stitching. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/process/processes.h"
#include "common/stitch/function-range.h"

/* As function_range_finder, by offsets of an object. */
typedef bool (*object_function_finder)(void *userdata, const struct profile_object *object,
				       uint64_t offset, struct function_range *ret);

struct function_finder {
	struct processes *processes;
	object_function_finder find; /* NULL: it finds nothing */
	void *userdata;
};

/* A function_range_finder; @finder is a struct function_finder. */
bool function_finder_find(void *finder, int32_t pid, uint64_t address, struct function_range *ret);
