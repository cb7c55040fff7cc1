/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a store is told, and the rule by which it heals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_MAX_TIERS 8

/* Windows of this length are kept for that time. */
struct store_tier {
	uint64_t length_us, keep_us;
};

/* From the shortest windows to the longest. */
struct store_tiers {
	struct store_tier rows[STORE_MAX_TIERS];
	size_t n; /* 0: windows stay as they are */
};

/* Of the file system of the database: the larger of both. */
struct store_keep_free {
	uint64_t bytes;
	uint32_t percent;
};

struct store_settings {
	/*
	 * Bytes in use in the database. Near the limit, users who have more than a fair share lose
	 * the rarest of their rows in the oldest windows, without any change of the sums; above it,
	 * where nobody has, the oldest windows are removed, but never the newest. The file may be a
	 * sixteenth larger, and the log beside it some MiB. 0: no limit.
	 */
	uint64_t max_bytes;
	/* The limit is lower where the file system would have less free space: see room.h. */
	struct store_keep_free keep_free;
	struct store_tiers tiers;  /* of store_roll() */
	uint64_t max_retention_us; /* it also removes older windows, of any tier. 0: no limit */
};

/*
 * Where the database is found damaged, by writing or reading, it is renamed, never removed, and a
 * new one is begun: at first this number of times at once, in the long run once in this time. Until
 * the next time, adding a window and reading a damaged one fail with -EBADMSG, and the status says
 * why.
 */
#define STORE_MAX_MOVED 3
#define STORE_HEAL_US   (3600 * 1000000ULL)

/* In microseconds. */
typedef uint64_t (*store_clock)(void);

/* Whether a process has this number now. */
typedef bool (*store_alive_handler)(int32_t pid);
