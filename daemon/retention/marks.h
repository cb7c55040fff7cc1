/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Marks: names that users gave to windows. Marked windows are neither merged, pruned nor removed,
 * so marks are limited: in number, and in the room that their windows take, so that other windows
 * keep the most of the database.
 *
 * The marks are few: they are kept in memory, as in the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/database/database.h"

#define N_STORE_MARKS 9

#define STORE_MAX_MARKS          64
#define STORE_MARK_NAME_MAX      64   /* bytes */
#define STORE_MAX_MARKED_WINDOWS 4096 /* a window of several marks counts for each */

/* The part of the database that marked windows may have, by their rows. */
#define STORE_MARKED_SHARE     4
#define STORE_MARKED_ROW_BYTES 64
#define STORE_MARKED_MAX_ROWS  (1u << 23) /* without a limit of the database */

struct store_mark {
	char name[STORE_MARK_NAME_MAX + 1];
	int64_t first, last; /* all windows from the first to the last */
	uint64_t made_us;
	uint32_t uid; /* who made it */
};

/* What the windows of a mark are. */
struct store_marked {
	uint64_t n_windows, samples, lost;
	uint64_t since_us, until_us;
	uint64_t n_rows;
};

struct store_marks {
	struct database *database;
	struct statement *statements[N_STORE_MARKS];
	struct store_mark rows[STORE_MAX_MARKS]; /* sorted by name */
	size_t n;
};

/* Reads the marks, and removes what can be none. 0 or -errno. */
int store_marks_init(struct store_marks *marks, struct database *database);

/* 1 to 64 letters, digits, '.', '-' and '_'; the first is a letter; no two dots follow each other.
 */
bool store_mark_name_is_valid(const char *name);

const struct store_mark *store_marks_find(const struct store_marks *marks, const char *name);
bool store_marks_have(const struct store_marks *marks, int64_t window);

/* What a mark holds, or would hold. 0 or -errno. */
int store_marks_measure(struct store_marks *marks, const struct store_mark *mark,
			struct store_marked *ret);

/*
 * Adds a mark, in a database that may have @max_bytes (0: no limit). 0; -ENOENT: the first or the
 * last window is not there; -EEXIST; -EMLINK: too many marks; -EFBIG: too many windows; -EDQUOT:
 * too many rows; another -errno of the database.
 */
int store_marks_add(struct store_marks *marks, const struct store_mark *mark, uint64_t max_bytes);

/* 1; 0: there is none; or -errno. */
int store_marks_remove(struct store_marks *marks, const char *name);
