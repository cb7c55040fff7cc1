/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "daemon/retention/room.h"
#include "daemon/store/open.h"

/*
 * The number of windows that "seen" may lag behind (see schema.sql): rows in use are updated once
 * in this number of windows, and rows not in use may be kept for as many longer. Where there is not
 * much room left, it is a 32nd of the windows, also if these are few.
 */
#define MIN_LAG 16
#define MAX_LAG 64

/*
 * Who is over their share may have no more rows in a new window than would fit into the database
 * with this number of windows; but at least this budget, and the floor in an old window.
 */
#define MIN_WINDOWS 1024
#define ROW_BYTES   64
#define MIN_BUDGET  1024
#define MIN_FLOOR   32

/* No window has a larger id: ids are counted up. */
#define MAX_ID (INT64_MAX / 2)

/* The log may be at least this large, whatever the limit of the database. */
#define MIN_LOG_BYTES   (64u << 20)
#define MAX_LOG_WAIT_MS 250 /* for a checkpoint */

struct store *store_free(struct store *store)
{
	if (!store)
		return NULL;
	store_close_database(store);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store->path);
	free(store);
	return NULL;
}

void store_set_settings(struct store *store, const struct store_settings *settings)
{
	store->settings = *settings;
	store->code.max_bytes = settings->max_bytes;
	store_tiering_forget(&store->tiering);
}

void store_set_clock(struct store *store, store_clock clock)
{
	store->clock = clock;
}

void store_set_alive(struct store *store, store_alive_handler is_alive)
{
	store->gone.is_alive = is_alive;
}

/* 0 where there is none. */
static uint64_t file_bytes(const struct store *store, const char *part)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", store->path, part) >= sizeof(path) ||
	    stat(path, &st) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

/* A program that reads for hours keeps the log from being emptied. It must not fill the disk. */
static int check_log(struct store *store, struct fault *fault)
{
	uint64_t max_bytes = MAX(store->settings.max_bytes, (uint64_t)MIN_LOG_BYTES);

	if (store->settings.max_bytes == 0 || !store_is_file(store) ||
	    file_bytes(store, "-wal") <= max_bytes)
		return 0;
	/* one that is due or on its way gets its turn, also on a busy machine */
	for (int i = 0; i < 2; i++) {
		if (store_checkpoint_is_complete(&store->checkpoint))
			return 0; /* the window overwrites the log from its start */
		store_checkpoint_start(&store->checkpoint, STORE_CHECKPOINT_COPY);
		store_checkpoint_wait(&store->checkpoint, MAX_LOG_WAIT_MS);
	}
	if (store_checkpoint_is_complete(&store->checkpoint))
		return 0;
	return fault_set(fault, -ENOSPC,
			 "%s-wal: full, as another program has been reading the database all the "
			 "time, or the disk is too slow; end that program",
			 store->path);
}

/* The number of the next window, larger than any that a caller was told of, and its horizon. */
static int next_window(struct store *store, int64_t *ret_id, int64_t *ret_horizon)
{
	struct statement *row = store->statements[LAST_WINDOW];
	int64_t id = 0, horizon = 0, lag;
	int r;

	*ret_id = *ret_horizon = 0;
	r = statement_step(row);
	if (r > 0) {
		id = statement_int(row, 0);
		horizon = statement_int(row, 1);
		r = statement_reset(row);
	}
	if (r < 0)
		return r;
	if (id < 0 || id > MAX_ID || horizon > id)
		return database_damaged(store->database, "the id of the last window is invalid");
	id = MAX(id, store->last_id);
	lag = MIN((int64_t)store->n_windows / 32, MAX_LAG);
	lag = MAX(lag, store->trim.crowded ? 1 : MIN_LAG);
	*ret_id = id + 1;
	*ret_horizon = MAX(horizon, *ret_id - lag);
	return 0;
}

static uint64_t limit_of(const struct store *store)
{
	return store_is_file(store) ? store_room_measure(&store->settings, store->path) :
				      store->settings.max_bytes;
}

/* The rows of each long table that who is over their share may have in a new window. */
static uint64_t budget_of(const struct store *store)
{
	return MAX(store->max_bytes / (MIN_WINDOWS * ROW_BYTES), (uint64_t)MIN_BUDGET);
}

static uint64_t max_rows(uint32_t uid, void *userdata)
{
	struct store *store = userdata;
	int64_t id = uid == UINT32_MAX ? -1 : (int64_t)uid;

	return store_share_is_over(&store->share, id) > 0 ? budget_of(store) : UINT64_MAX;
}

/* Where there is not much room left, somebody may have more than a share. */
static bool may_be_over_share(const struct store *store, const struct profile *p)
{
	return store->max_bytes > 0 && store->trim.crowded &&
	       p->n_stacks + p->n_streams + p->n_branches + p->n_blocks > budget_of(store);
}

/* 1 if rows of the profile were pruned; 0; or -ENOMEM. */
static int limit_rows(struct store *store, struct profile *p)
{
	const unsigned int tables = PROFILE_ALL_TABLES & ~PROFILE_TABLE(PROFILE_STACKS);
	int pruned = profile_limit_all(p, tables, STORE_WINDOW_ROWS), r = MIN(pruned, 0);

	if (pruned > 0)
		r = profile_finalize(p);
	if (r < 0 || !may_be_over_share(store, p))
		return r < 0 ? r : pruned;
	r = profile_limit(p, max_rows, store);
	if (r > 0)
		r = profile_finalize(p) ?: 1;
	return r != 0 ? r : pruned;
}

/* A copy of the window without its rarest rows, or those of who has more than a share; NULL: it has
 * none too many. 0 or -ENOMEM. */
static int limit(struct store *store, const struct profile *p, struct profile **ret)
{
	_cleanup_(profile_freep) struct profile *copy = NULL;
	int r;

	*ret = NULL;
	if (p->n_streams + p->n_branches + p->n_blocks <= STORE_WINDOW_ROWS &&
	    !may_be_over_share(store, p))
		return 0;
	r = profile_merge(&copy, &p, 1);
	if (r < 0)
		return r;
	r = limit_rows(store, copy);
	if (r > 0)
		*ret = TAKE_PTR(copy);
	return MIN(r, 0);
}

/* The window and what tells of it. */
static int write_window(struct store *store, int64_t id, int64_t horizon,
			const struct window *window, const struct profile *profile)
{
	_cleanup_(profile_freep) struct profile *limited = NULL;
	int r;

	r = limit(store, profile, &limited);
	if (r < 0)
		return r;
	profile = limited ?: profile;
	r = store_first_ids_begin_window(&store->first_ids, id);
	if (r >= 0)
		r = store_write_window(&store->write, id, horizon, window, profile);
	return r < 0 ? r : store_share_add(&store->share, id, profile);
}

static int add_in_transaction(struct store *store, const struct window *window,
			      const struct profile *profile, int64_t *ret_id,
			      uint64_t *ret_n_removed)
{
	int64_t horizon;
	int r;

	*ret_n_removed = 0;
	store->max_bytes = limit_of(store);
	r = database_begin_writing(store->database);
	if (r >= 0)
		r = next_window(store, ret_id, &horizon);
	if (r >= 0)
		r = write_window(store, *ret_id, horizon, window, profile);
	store->trim.floor = MAX(budget_of(store) / 32, (uint64_t)MIN_FLOOR);
	if (r >= 0 && store->max_bytes > 0)
		r = store_trim(&store->trim, store->max_bytes, *ret_id, ret_n_removed);
	if (r >= 0)
		r = database_commit(store->database);
	return r;
}

static int add(struct store *store, const struct window *window, const struct profile *profile,
	       int64_t *ret_id, struct fault *fault)
{
	uint64_t n_removed;
	int64_t id;
	int r;

	r = add_in_transaction(store, window, profile, &id, &n_removed);
	if (r < 0) {
		database_roll_back(store->database);
		store_intern_forget(&store->intern);
		store_trim_forget(&store->trim);
		return database_explain(store->database, r, fault);
	}
	store->n_windows += 1 - n_removed;
	store->n_removed += n_removed;
	store->longest_us = MAX(store->longest_us, window->length_us);
	store->last_id = *ret_id = id;
	store_secure_log(store);
	return 0;
}

int store_add(struct store *store, const struct window *window, const struct profile *profile,
	      int64_t *ret_id, struct fault *fault)
{
	int r, healed;

	store_close_removed(store);
	r = store_try_database(store, fault);
	if (r >= 0)
		r = check_log(store, fault);
	if (r < 0)
		return r;
	r = add(store, window, profile, ret_id, fault);
	healed = store_heal(store, r, fault);
	if (healed <= 0)
		return healed < 0 ? healed : r;
	return add(store, window, profile, ret_id, fault);
}

void store_set_code_source(struct store *store, store_code_source source, void *userdata)
{
	store->code.source = source;
	store->code.userdata = userdata;
}

static int find_code(struct store *store, const struct store_function *function, void *ret,
		     size_t n, uint16_t *ret_machine, struct fault *fault)
{
	int r;

	r = store_want_to_read(store, fault);
	if (r < 0)
		return r;
	r = store_code_find(&store->code, function, ret, n, ret_machine);
	return r < 0 ? database_explain(store->database, r, fault) : r;
}

int store_find_code(struct store *store, const struct store_function *function, void *ret, size_t n,
		    uint16_t *ret_machine, struct fault *fault)
{
	int r = find_code(store, function, ret, n, ret_machine, fault);
	int healed = store_heal(store, r, fault);

	if (healed <= 0)
		return healed < 0 ? healed : r;
	return find_code(store, function, ret, n, ret_machine, fault);
}

static int list(struct store *store, uint64_t since_us, uint64_t until_us, struct window **ret,
		size_t *ret_n, struct fault *fault)
{
	int r;

	r = store_want_to_read(store, fault);
	if (r < 0)
		return store->unopened ? 0 : r; /* then no window was stored yet */
	r = store_read_list(&store->read, since_us, until_us, store->longest_us, ret, ret_n);
	return r < 0 ? database_explain(store->database, r, fault) : 0;
}

int store_for_each(struct store *store, uint64_t since_us, uint64_t until_us, store_handler handler,
		   void *userdata, struct fault *fault)
{
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0;
	int r, healed;

	r = list(store, since_us, until_us, &windows, &n, fault);
	healed = store_heal(store, r, fault);
	if (healed > 0)
		r = list(store, since_us, until_us, &windows, &n, fault);
	if (r < 0 || healed < 0)
		return MIN(r, healed);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = handler(&windows[i], userdata);
	return MIN(r, 0);
}

static int read_sum(struct store *store, const struct store_batch *batch, struct window_sum *sum,
		    size_t *ret_n, struct fault *fault)
{
	struct store_batch own = *batch;
	int r = store_want_to_read(store, fault);

	if (r < 0)
		return r;
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_gone_prepare(&store->gone, &own);
	if (r >= 0)
		r = store_read_add(&store->read, store->n_opened, &own, sum, ret_n);
	database_roll_back(store->database); /* nothing was written */
	return r < 0 ? database_explain(store->database, r, fault) : 0;
}

int store_read_sum(struct store *store, const struct store_batch *batch, struct window_sum *sum,
		   size_t *ret_n, struct fault *fault)
{
	bool is_first = sum->n_windows == 0;
	int r = read_sum(store, batch, sum, ret_n, fault);
	int healed = store_heal(store, r, fault);

	if (healed <= 0 || !is_first)
		return healed < 0 ? healed : r;
	r = window_sum_clear(sum);
	return r < 0 ? fault_set(fault, r, "out of memory") :
		       read_sum(store, batch, sum, ret_n, fault);
}

int store_read_many(struct store *store, const struct store_batch *batch, size_t *ret_n,
		    struct profile **ret, struct fault *fault)
{
	_cleanup_(window_sum_freep) struct window_sum *sum = NULL;
	int r = window_sum_new(&sum, PROFILE_ALL_TABLES);

	if (r == 0)
		r = store_read_sum(store, batch, sum, ret_n, fault);
	else
		fault_set(fault, r, "out of memory");
	return r < 0 ? r : window_sum_take(sum, ret);
}

bool store_has_large(struct store *store, const struct store_batch *batch, uint64_t max_rows)
{
	struct fault fault;
	uint64_t n, sum = 0;

	if (store_want_to_read(store, &fault) < 0)
		return false;
	for (size_t i = 0; i < batch->n && sum < batch->max_rows; i++, sum += n)
		if (store_share_count(&store->share, batch->windows[i].id, &n) <= 0 || n > max_rows)
			return true;
	return false;
}

int store_read(struct store *store, int64_t id, struct profile **ret, struct window *ret_window,
	       struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct window window = { .id = id };
	bool found = false;
	const struct store_batch batch = { .windows = &window, .found = &found, .n = 1 };
	size_t n;
	int r;

	r = store_read_many(store, &batch, &n, &profile, fault);
	if (r < 0 || !found)
		return r;
	if (ret_window)
		*ret_window = window;
	*ret = TAKE_PTR(profile);
	return 1;
}

/* When the first window starts and the last ends. 0, or -errno and @fault. */
static int find_span(struct store *store, int64_t *ret_first_us, int64_t *ret_last_us,
		     struct fault *fault)
{
	int r;

	r = store_ask(store, FIRST_MOMENT, ret_first_us);
	if (r >= 0)
		r = store_ask(store, LAST_MOMENT, ret_last_us);
	return r < 0 ? database_explain(store->database, r, fault) : 0;
}

static struct store_tiers tiers_of(const struct store_settings *settings)
{
	struct store_tiers tiers = settings->tiers;

	for (size_t i = 0; settings->max_retention_us > 0 && i < tiers.n; i++)
		tiers.rows[i].keep_us = MIN(tiers.rows[i].keep_us, settings->max_retention_us);
	return tiers;
}

void store_get_status(struct store *store, struct store_status *ret)
{
	int64_t first_us = 0, last_us = 0;
	struct fault fault;
	int r;

	r = store->database ? find_span(store, &first_us, &last_us, &fault) : 0;
	if (r < 0)
		first_us = last_us = 0;
	store_heal(store, r, &fault);
	*ret = (struct store_status){
		.n_bytes = file_bytes(store, "") + file_bytes(store, "-wal"),
		.max_bytes = limit_of(store),
		.tiers = tiers_of(&store->settings),
		.n_windows = store->n_windows,
		.n_removed = store->n_removed,
		.first_us = (uint64_t)first_us,
		.last_us = (uint64_t)last_us,
		.removed = store->removed,
		.converted = store->converted,
		.n_moved = store->n_moved,
	};
	memcpy(ret->moved_to, store->moved_to, sizeof(ret->moved_to));
	memcpy(ret->why_moved, store->why_moved, sizeof(ret->why_moved));
	memcpy(ret->damage, store->damage, sizeof(ret->damage));
	if (store->unopened)
		memcpy(ret->unopened, store->why_unopened.text, sizeof(ret->unopened));
}

uint64_t store_count_moved(const struct store *store)
{
	return store->n_moved;
}

void store_report_damage(struct store *store, struct fault *fault)
{
	struct fault text = *fault;

	if (store_heal(store, -EBADMSG, &text) == 0)
		*fault = text;
}

bool store_is_due(const struct store *store)
{
	return *store->damage && store->clock() >= store_due_us(store);
}

void store_heal_at_once(struct store *store)
{
	store->spent_us = 0;
}
