/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store's windows grow longer with age: one step of tiers.h. Windows with many rows take long
 * to read and to add up. So that is done by a connection of its own, and their sum is written if
 * nothing of them has changed meanwhile.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/store/open.h"
#include "daemon/store/reader.h"
#include "daemon/store/store.h"

#define MAX_LOG_PAGES (4 * STORE_LOG_PAGES)

/* Windows with no more rows than this are merged at once: some ms. */
#define SMALL_ROWS 2000

struct store_rolling {
	struct store_merge merge;
	struct store_reader *reader;  /* NULL: the store itself makes the sum */
	uint64_t n_opened, n_changes; /* of the store, when the windows were chosen */
	struct fault fault;
	int result;     /* of the work */
	bool looked_up; /* what a large sum refers to */
};

void store_hold(struct store *store)
{
	store->n_holders++;
}

void store_release(struct store *store)
{
	assert(store->n_holders > 0);
	store->n_holders--;
}

struct store_rolling *store_rolling_free(struct store_rolling *rolling)
{
	if (!rolling)
		return NULL;
	store_merge_done(&rolling->merge);
	store_reader_free(rolling->reader);
	free(rolling);
	return NULL;
}

/* Ends a transaction: @r as it was, or what else went wrong, and @fault. */
static int end(struct store *store, int r, struct fault *fault)
{
	int committed = r < 0 ? r : database_commit(store->database);

	if (committed >= 0)
		return r;
	database_roll_back(store->database);
	store_intern_forget(&store->intern);
	store_trim_forget(&store->trim);
	store_tiering_forget(&store->tiering);
	return database_explain(store->database, committed, fault);
}

/* After a step that answered @r. */
static int note(struct store *store, const struct store_tiering_step *step, int r,
		struct fault *fault)
{
	int healed = store_heal(store, r, fault);

	if (r < 0 || healed < 0)
		return healed > 0 ? 0 : MIN(r, healed);
	store->n_windows -= step->n_merged + step->n_removed;
	store->n_removed += step->n_removed;
	store->longest_us = MAX(store->longest_us, step->length_us);
	if (store_is_file(store) && database_log_pages(store->database) >= STORE_LOG_PAGES)
		store_checkpoint_start(&store->checkpoint, STORE_CHECKPOINT_COPY);
	return r;
}

/* What is written at once does not wait in a long log: windows come first. */
static bool is_log_long(struct store *store)
{
	return store_is_file(store) && database_log_pages(store->database) >= MAX_LOG_PAGES &&
	       !store_checkpoint_is_complete(&store->checkpoint);
}

/* Nothing is merged while somebody reads what was listed. */
static bool may_roll(struct store *store)
{
	return store->database && !store->unopened && store->n_holders == 0 &&
	       !is_log_long(store) &&
	       (store->settings.tiers.n > 0 || store->settings.max_retention_us > 0);
}

static int clean(struct store *store, struct fault *fault)
{
	struct store_tiering_step step = { 0 };
	int r = database_begin_writing(store->database);

	if (r >= 0)
		r = store_tiering_clean(&store->tiering, &store->settings, &step);
	return note(store, &step, end(store, r, fault), fault);
}

/* Which windows are due: 1 and *@ret; else as store_roll(). */
static int find(struct store *store, struct store_rolling **ret, struct fault *fault)
{
	_cleanup_(store_rolling_freep) struct store_rolling *rolling = calloc(1, sizeof(*rolling));
	int r;

	if (!rolling)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = database_begin_reading(store->database);
	if (r >= 0)
		r = store_tiering_find(&store->tiering, &store->settings, &rolling->merge);
	database_roll_back(store->database); /* nothing was written */
	if (r < 0)
		return note(store, &(struct store_tiering_step){ 0 },
			    database_explain(store->database, r, fault), fault);
	if (r != 1)
		return r == 0 ? 0 : 2;
	rolling->n_opened = store->n_opened;
	rolling->n_changes = store->share.n_changes;
	*ret = TAKE_PTR(rolling);
	return 1;
}

/* By the store itself. */
static int make(struct store *store, struct store_rolling *rolling)
{
	int r = database_begin_reading(store->database);

	if (r >= 0)
		r = store_merge_make(&rolling->merge, &store->read, &store->gone);
	database_roll_back(store->database); /* nothing was written */
	return r < 0 ? database_explain(store->database, r, &rolling->fault) : r;
}

int store_rolling_work(struct store_rolling *rolling)
{
	rolling->result = store_reader_merge(rolling->reader, &rolling->merge, &rolling->fault);
	return rolling->result;
}

/* Whether the windows are what they were. */
static bool is_valid(const struct store *store, const struct store_rolling *rolling)
{
	if (!store->database || rolling->n_opened != store->n_opened ||
	    rolling->n_changes != store->share.n_changes)
		return false;
	for (size_t i = 0; i < rolling->merge.n; i++)
		if (store_marks_have(&store->marks, rolling->merge.windows[i].id))
			return false;
	return true;
}

static int replace(struct store *store, const struct store_rolling *rolling, struct fault *fault)
{
	struct store_tiering_step step = { 0 };
	int r = database_begin_writing(store->database);

	if (r >= 0)
		r = store_tiering_replace(&store->tiering, &rolling->merge, &step);
	r = note(store, &step, end(store, r, fault), fault);
	return r < 0 ? r : 1;
}

/* A piece of its own: the store may know few of a sum's rows by heart. */
static int look_up(struct store *store, struct store_rolling *rolling, struct fault *fault)
{
	int r = database_begin_writing(store->database);

	if (r >= 0)
		r = store_tiering_look_up(&store->tiering, &rolling->merge);
	rolling->looked_up = true;
	return note(store, &(struct store_tiering_step){ 0 }, end(store, r, fault), fault);
}

int store_roll_end(struct store *store, struct store_rolling *rolling, struct fault *fault)
{
	int r;

	if (!is_valid(store, rolling))
		return 1;
	if (store->n_holders > 0)
		return 2;
	if (rolling->result >= 0 && rolling->reader && !rolling->looked_up) {
		r = look_up(store, rolling, fault);
		return r < 0 ? r : 2;
	}
	if (rolling->result >= 0)
		return replace(store, rolling, fault);
	*fault = rolling->fault;
	return note(store, &(struct store_tiering_step){ 0 }, rolling->result, fault);
}

int store_roll_begin(struct store *store, struct store_rolling **ret, struct fault *fault)
{
	_cleanup_(store_rolling_freep) struct store_rolling *rolling = NULL;
	int r;

	if (!may_roll(store))
		return 0;
	r = find(store, &rolling, fault);
	if (r == 0)
		return clean(store, fault);
	if (r != 1)
		return MIN(r, 1);
	r = rolling->merge.n_rows <= SMALL_ROWS ? 0 :
						  store_reader_new(&rolling->reader, store, fault);
	if (r < 0)
		return r;
	if (r > 0) {
		*ret = TAKE_PTR(rolling);
		return 2;
	}
	rolling->result = make(store, rolling);
	return store_roll_end(store, rolling, fault);
}

int store_roll(struct store *store, struct fault *fault)
{
	_cleanup_(store_rolling_freep) struct store_rolling *rolling = NULL;
	int r = store_roll_begin(store, &rolling, fault);

	if (r != 2)
		return r;
	store_rolling_work(rolling);
	r = store_roll_end(store, rolling, fault);
	return r == 2 ? store_roll_end(store, rolling, fault) : r;
}
