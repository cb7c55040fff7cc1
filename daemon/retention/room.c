/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/room.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/util/macro.h"

uint64_t store_room_limit(const struct store_settings *settings, const struct store_room *room)
{
	const struct store_keep_free *keep = &settings->keep_free;
	uint64_t keep_bytes = MAX(keep->bytes, room->total_bytes / 100 * keep->percent);
	uint64_t bytes = room->available_bytes + room->database_bytes;

	if (keep_bytes == 0)
		return settings->max_bytes;
	bytes = bytes > keep_bytes ? bytes - keep_bytes : 0;
	bytes = MAX(bytes, (uint64_t)STORE_ROOM_MIN_BYTES);
	return settings->max_bytes > 0 ? MIN(bytes, settings->max_bytes) : bytes;
}

uint64_t store_room_measure(const struct store_settings *settings, const char *path)
{
	struct statvfs fs;
	struct stat st;
	struct store_room room;

	if (statvfs(path, &fs) < 0 || stat(path, &st) < 0)
		return settings->max_bytes;
	room = (struct store_room){
		.total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize,
		.available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize,
		.database_bytes = (uint64_t)st.st_size,
	};
	return store_room_limit(settings, &room);
}
