/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each user has in the store, in rows: so that who takes more than a fair share loses rows of
 * their own first. Users are told apart by the uid of their processes; root is one of them, and so
 * is the unknown user, -1, who has the rows without a process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/database.h"

#define N_STORE_SHARE 5

struct store_user {
	int64_t uid;
	uint64_t n_rows; /* of all windows */
	int64_t from;    /* windows before this one have nothing to prune of theirs */
};

struct store_share {
	struct database *database;
	struct statement *statements[N_STORE_SHARE];
	struct store_user *users; /* sorted by uid */
	size_t n_users, cap_users;
	uint64_t n_rows;    /* of all users */
	bool stale;         /* what is above is to be read again */
	uint64_t n_changes; /* of windows that were there: pruned, merged or removed */
};

/* 0 or -errno; in any case store_share_done() is due. */
int store_share_init(struct store_share *share, struct database *database);
void store_share_done(struct store_share *share);
/* To be called where a transaction was rolled back. */
void store_share_forget(struct store_share *share);

/* Each in a transaction of the caller: writes what the users have in a window, or removes it. 0 or
 * -errno. */
int store_share_add(struct store_share *share, int64_t window, const struct profile *profile);
int store_share_remove(struct store_share *share, int64_t window);

/* What all users have in a window: 1; 0 if that is not known; or -errno. */
int store_share_count(struct store_share *share, int64_t window, uint64_t *ret);

/* Whether @uid has more rows than a fair share: 1 or 0, or -errno. */
int store_share_is_over(struct store_share *share, int64_t uid);

/*
 * The user with the most rows of all who are over the share and have more than @floor rows in a
 * window before @newest that has no mark, and the oldest such window: 1, or 0 if there is none; or
 * -errno.
 */
int store_share_find(struct store_share *share, uint64_t floor, int64_t newest, int64_t *ret_uid,
		     int64_t *ret_window);

/* Nothing is left to prune of the user's in this window, nor in those before. */
void store_share_pass(struct store_share *share, int64_t uid, int64_t window);
/* The window has other rows now: there may be some to prune. */
void store_share_return(struct store_share *share, int64_t window);
