/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

enum {
	SUM_UP,
	ADD_ROWS,
	READ_ROWS,
	REMOVE_ROWS,
	FIND_WINDOW,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[SUM_UP] = "SELECT uid, sum(rows) FROM user_rows GROUP BY uid ORDER BY uid",
	[ADD_ROWS] = "INSERT INTO user_rows (window, uid, rows) VALUES (?, ?, ?)",
	[READ_ROWS] = "SELECT uid, rows FROM user_rows WHERE window = ?",
	[REMOVE_ROWS] = "DELETE FROM user_rows WHERE window = ?",
	[FIND_WINDOW] = "SELECT window FROM user_rows WHERE window >= ? AND window < ? AND "
			"uid = ? AND rows > ? AND NOT EXISTS (SELECT 1 FROM mark "
			"WHERE window BETWEEN first AND last) ORDER BY window LIMIT 1",
};

_Static_assert(N_STATEMENTS == N_STORE_SHARE, "share.h has another number");

int store_share_init(struct store_share *share, struct database *database)
{
	*share = (struct store_share){ .database = database, .stale = true };
	return database_prepare(database, sql, N_STATEMENTS, share->statements);
}

void store_share_done(struct store_share *share)
{
	free(share->users);
	*share = (struct store_share){ 0 };
}

void store_share_forget(struct store_share *share)
{
	share->stale = true;
}

/* The first user whose uid is not below. */
static size_t lower_bound(const struct store_share *share, int64_t uid)
{
	size_t low = 0, high = share->n_users;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (share->users[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct store_user *find_user(const struct store_share *share, int64_t uid)
{
	size_t i = lower_bound(share, uid);

	return i < share->n_users && share->users[i].uid == uid ? &share->users[i] : NULL;
}

static int add_rows(struct store_share *share, int64_t uid, uint64_t n_rows)
{
	struct store_user *user = find_user(share, uid);
	size_t at = lower_bound(share, uid);

	share->n_rows += n_rows;
	if (user) {
		user->n_rows += n_rows;
		return 0;
	}
	if (ARRAY_RESERVE(&share->users, &share->cap_users, share->n_users + 1) < 0)
		return -ENOMEM;
	memmove(&share->users[at + 1], &share->users[at],
		(share->n_users - at) * sizeof(*share->users));
	share->users[at] = (struct store_user){ .uid = uid, .n_rows = n_rows };
	share->n_users++;
	return 0;
}

/* Users without any row are not among those who share. */
static void remove_rows(struct store_share *share, int64_t uid, uint64_t n_rows)
{
	struct store_user *user = find_user(share, uid);

	if (!user)
		return;
	n_rows = MIN(n_rows, user->n_rows);
	user->n_rows -= n_rows;
	share->n_rows -= n_rows;
	if (user->n_rows > 0)
		return;
	share->n_users--;
	memmove(user, user + 1,
		(share->n_users - (size_t)(user - share->users)) * sizeof(*share->users));
}

/* A number of rows, which may be anything in a damaged database. */
static uint64_t rows_column(struct statement *row, int i)
{
	int64_t n = statement_int(row, i);

	return n < 0 ? 0 : MIN((uint64_t)n, (uint64_t)UINT32_MAX);
}

static int refresh(struct store_share *share)
{
	struct statement *row = share->statements[SUM_UP];
	int r;

	if (!share->stale)
		return 0;
	share->n_users = 0;
	share->n_rows = 0;
	while ((r = statement_step(row)) > 0) {
		r = add_rows(share, statement_int(row, 0), rows_column(row, 1));
		if (r < 0) {
			statement_reset(row);
			return r;
		}
	}
	share->stale = r < 0;
	return r;
}

static int64_t uid_of(const struct profile *p, uint32_t process)
{
	uint32_t uid = process == PROFILE_NONE ? UINT32_MAX : p->processes[process].uid;

	return uid == UINT32_MAX ? -1 : (int64_t)uid;
}

static int compare_numbers(const void *p, const void *q)
{
	const int64_t *a = p, *b = q;

	return (*a > *b) - (*a < *b);
}

/* The rows of each process, and at the end those of none. */
static uint64_t *count_rows(const struct profile *p)
{
	uint64_t *n_rows = calloc(p->n_processes + 1, sizeof(*n_rows));

	if (!n_rows)
		return NULL;
	for (size_t i = 0; i < p->n_processes; i++)
		n_rows[i] = 1;
	for (size_t i = 0; i < p->n_stacks; i++)
		n_rows[MIN(p->stacks[i].process, p->n_processes)]++;
	for (size_t i = 0; i < p->n_streams; i++)
		n_rows[MIN(p->streams[i].process, p->n_processes)]++;
	for (size_t i = 0; i < p->n_branches; i++)
		n_rows[MIN(p->branches[i].process, p->n_processes)]++;
	for (size_t i = 0; i < p->n_blocks; i++)
		n_rows[MIN(p->blocks[i].process, p->n_processes)]++;
	return n_rows;
}

static int add_user(struct store_share *share, int64_t window, int64_t uid, const struct profile *p,
		    const uint64_t *n_rows)
{
	uint64_t n = 0;
	int r;

	for (size_t i = 0; i < p->n_processes; i++)
		if (uid_of(p, (uint32_t)i) == uid)
			n += n_rows[i];
	if (uid == -1)
		n += n_rows[p->n_processes];
	if (n == 0)
		return 0;
	STATEMENT_BIND(share->statements[ADD_ROWS], window, uid, (int64_t)n);
	r = statement_run(share->statements[ADD_ROWS]);
	return r < 0 ? r : add_rows(share, uid, n);
}

int store_share_add(struct store_share *share, int64_t window, const struct profile *profile)
{
	_cleanup_free_ uint64_t *n_rows = count_rows(profile);
	_cleanup_free_ int64_t *uids = calloc(profile->n_processes + 1, sizeof(*uids));
	int r;

	if (!n_rows || !uids)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_processes; i++)
		uids[i] = uid_of(profile, (uint32_t)i);
	uids[profile->n_processes] = -1;
	qsort(uids, profile->n_processes + 1, sizeof(*uids), compare_numbers);
	r = refresh(share);
	for (size_t i = 0; r >= 0 && i <= profile->n_processes; i++)
		if (i == 0 || uids[i] != uids[i - 1])
			r = add_user(share, window, uids[i], profile, n_rows);
	return r;
}

int store_share_remove(struct store_share *share, int64_t window)
{
	struct statement *row = share->statements[READ_ROWS];
	int r;

	share->n_changes++;
	r = refresh(share);
	if (r < 0)
		return r;
	STATEMENT_BIND(row, window);
	while ((r = statement_step(row)) > 0)
		remove_rows(share, statement_int(row, 0), rows_column(row, 1));
	if (r < 0)
		return r;
	STATEMENT_BIND(share->statements[REMOVE_ROWS], window);
	return statement_run(share->statements[REMOVE_ROWS]);
}

int store_share_count(struct store_share *share, int64_t window, uint64_t *ret)
{
	struct statement *row = share->statements[READ_ROWS];
	bool found = false;
	uint64_t n = 0;
	int r;

	STATEMENT_BIND(row, window);
	for (; (r = statement_step(row)) > 0; found = true)
		n += rows_column(row, 1);
	if (r < 0)
		return r;
	*ret = n;
	return found;
}

static bool is_over(const struct store_share *share, const struct store_user *user)
{
	return share->n_users > 1 && user->n_rows > share->n_rows / share->n_users;
}

int store_share_is_over(struct store_share *share, int64_t uid)
{
	const struct store_user *user;
	int r = refresh(share);

	if (r < 0)
		return r;
	user = find_user(share, uid);
	return user && is_over(share, user);
}

/* The oldest window with rows to prune: 1, 0 if there is none, or -errno. */
static int find_window(struct store_share *share, struct store_user *user, uint64_t floor,
		       int64_t newest, int64_t *ret)
{
	struct statement *row = share->statements[FIND_WINDOW];
	int r;

	if (user->from >= newest)
		return 0;
	STATEMENT_BIND(row, user->from, newest, user->uid, (int64_t)floor);
	r = statement_step(row);
	user->from = newest;
	if (r <= 0)
		return r;
	user->from = *ret = statement_int(row, 0);
	r = statement_reset(row);
	return r < 0 ? r : 1;
}

int store_share_find(struct store_share *share, uint64_t floor, int64_t newest, int64_t *ret_uid,
		     int64_t *ret_window)
{
	uint64_t below = UINT64_MAX;
	int r = refresh(share);

	while (r >= 0) {
		struct store_user *most = NULL;

		for (size_t i = 0; i < share->n_users; i++) {
			struct store_user *user = &share->users[i];

			if (user->n_rows < below && is_over(share, user) &&
			    (!most || user->n_rows > most->n_rows))
				most = user;
		}
		if (!most)
			return 0;
		r = find_window(share, most, floor, newest, ret_window);
		if (r > 0) {
			*ret_uid = most->uid;
			return 1;
		}
		below = most->n_rows;
	}
	return r;
}

void store_share_pass(struct store_share *share, int64_t uid, int64_t window)
{
	struct store_user *user = find_user(share, uid);

	if (user)
		user->from = window + 1;
}

void store_share_return(struct store_share *share, int64_t window)
{
	for (size_t i = 0; i < share->n_users; i++)
		share->users[i].from = MIN(share->users[i].from, window);
}
