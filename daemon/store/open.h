/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to the store: what it consists of, and how its database is opened, closed, and moved
 * out of the way where it is damaged.
 *
 * Few databases are moved an hour (STORE_MAX_MOVED, STORE_HEAL_US): a disk that damages all of them
 * must not be filled with them. Until the next may be, the damaged one stays in use: most of its
 * windows may still be read.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/util/fault.h"
#include "daemon/database/checkpoint.h"
#include "daemon/database/counters.h"
#include "daemon/database/database.h"
#include "daemon/database/intern.h"
#include "daemon/retention/gone.h"
#include "daemon/retention/marks.h"
#include "daemon/retention/reclaim.h"
#include "daemon/retention/reduce.h"
#include "daemon/retention/settings.h"
#include "daemon/retention/share.h"
#include "daemon/retention/tiers.h"
#include "daemon/retention/trim.h"
#include "daemon/retention/vacuum.h"
#include "daemon/rows/code.h"
#include "daemon/rows/functions.h"
#include "daemon/rows/read.h"
#include "daemon/rows/write.h"

/* Pages of the log from which on it is copied into the database after each transaction. */
#define STORE_LOG_PAGES 1000

enum {
	LAST_WINDOW,
	SURVEY_WINDOWS,
	FIRST_MOMENT,
	LAST_MOMENT,
	N_STORE_STATEMENTS,
};

struct store {
	char *path;
	struct store_settings settings;
	store_clock clock;
	int lock_fd; /* -1: not locked, or no file */
	struct database *database;
	struct store_checkpoint checkpoint;
	dev_t device; /* what the path led to when it was opened */
	ino_t inode;
	bool removed; /* it led elsewhere later */
	struct statement *statements[N_STORE_STATEMENTS];
	struct store_intern intern;
	struct store_counters counters;
	struct store_read read;
	struct store_write write;
	struct store_share share;
	struct store_first_ids first_ids;
	struct store_reclaim reclaim;
	struct store_reduce reduce;
	struct store_renew renew;
	struct store_trim trim;
	struct store_vacuuming vacuuming;
	struct store_gone gone;
	struct store_tiering tiering;
	struct store_marks marks;
	unsigned int n_holders; /* see store_hold() */
	uint64_t n_opened;      /* databases opened */
	struct store_code code;
	struct store_functions functions;
	uint64_t max_bytes; /* of the database, when a window was last added; 0: no limit */
	uint64_t n_windows, n_removed;
	uint64_t longest_us; /* no window is longer */
	int64_t last_id;     /* of a window, in this database or one before */
	int unopened;        /* -errno: since the start no database could be opened, 0: one was */
	struct fault why_unopened;
	int64_t converted; /* the version that the database had; 0: this one */
	uint64_t n_moved;  /* databases moved */
	uint64_t spent_us; /* when all that were moved are as good as forgotten */
	char moved_to[PATH_MAX], why_moved[sizeof(((struct fault *)0)->text)];
	char damage[sizeof(
		((struct fault *)0)->text)]; /* of the one in use, and what comes; or "" */
};

/* Whether it is a file, not in memory. */
bool store_is_file(const struct store *store);

/* The first column of the one row of a statement, 0 where there is none. 0 or -errno. */
int store_ask(struct store *store, int which, int64_t *ret);

/* Whether what is open could not be opened for writing. */
bool store_is_read_only(const struct store *store);

/* After opening it failed: its windows can be read where it is whole, and of this version. */
void store_open_to_read(struct store *store);

/*
 * Opens a database, or makes one, where there is none: at first, or after one was renamed or
 * removed and no other could be made. One that is damaged is moved out of the way. 0, or -errno and
 * @fault.
 */
int store_want_database(struct store *store, struct fault *fault);

/* The same for who reads: one that cannot be written will do. */
int store_want_to_read(struct store *store, struct fault *fault);

/* The same for who adds windows: only he tries again what failed at the start. */
int store_try_database(struct store *store, struct fault *fault);
void store_close_database(struct store *store);

/*
 * Opens a connection of its own to the database, for another thread, which leaves the log alone.
 * 1; 0: it is in memory, or cannot be written; or -errno and @fault.
 */
int store_open_own(struct store *store, struct database **ret, struct fault *fault);

/*
 * Closes a database that somebody has removed or replaced: writes to it would be lost. Its lock is
 * closed, too, as it may be removed with it.
 */
void store_close_removed(struct store *store);

/* After a transaction that a power failure must not take; a long log is also copied. Returns at
 * once. */
void store_secure_log(struct store *store);

/* When a database may be moved: each takes an hour, and some hours may be taken in advance. */
uint64_t store_due_us(const struct store *store);

/*
 * To be called with the answer @r of what was done with the database, and @fault. Where @r is
 * -EBADMSG, the database is moved out of the way and another begun. 1: so it was, and the same can
 * be tried again; 0: there was no reason, or it may not be moved yet, as @fault says then; -errno
 * and @fault: there is no database now.
 */
int store_heal(struct store *store, int r, struct fault *fault);
