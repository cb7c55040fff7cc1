/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of objects in anonymous memory. A JIT compiler names its functions in the file
 * /tmp/perf-PID.map, and perf calls the memory of the process by that name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define JIT_MAP_NAME_MAX 32

/* Writes "perf-PID.map". */
void jit_map_name(char ret[static JIT_MAP_NAME_MAX], int32_t pid);

/* The process of an object with such a name; -1: it is none. */
int32_t jit_map_pid(const struct profile_object *object);
