/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large the database may be, so that its file system keeps free space for others. What the
 * database gives back becomes available, so that the limit stays the same meanwhile.
 */
#pragma once

#include <stdint.h>

#include "daemon/retention/settings.h"

/* However little room there is, the database may have this. */
#define STORE_ROOM_MIN_BYTES (1u << 20)

/* Of a file system and the database in it. */
struct store_room {
	uint64_t total_bytes, available_bytes;
	uint64_t database_bytes; /* of the file, without its log */
};

/* Bytes that the database may have by both limits of @settings; 0: there is none. */
uint64_t store_room_limit(const struct store_settings *settings, const struct store_room *room);

/* The same of the database at @path. Where that cannot be measured, only max_bytes is a limit. */
uint64_t store_room_measure(const struct store_settings *settings, const char *path);
