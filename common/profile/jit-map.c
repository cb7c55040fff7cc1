/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/jit-map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "perf-"

void jit_map_name(char ret[static JIT_MAP_NAME_MAX], int32_t pid)
{
	snprintf(ret, JIT_MAP_NAME_MAX, PREFIX "%" PRId32 ".map", pid);
}

int32_t jit_map_pid(const struct profile_object *object)
{
	char again[JIT_MAP_NAME_MAX];
	long pid;

	if (object->kind != OBJECT_MEMORY || strncmp(object->path, PREFIX, strlen(PREFIX)) != 0)
		return -1;
	pid = strtol(object->path + strlen(PREFIX), NULL, 10);
	if (pid < 0 || pid > INT32_MAX)
		return -1;
	jit_map_name(again, (int32_t)pid);
	return strcmp(again, object->path) == 0 ? (int32_t)pid : -1;
}
