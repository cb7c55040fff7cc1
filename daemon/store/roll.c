/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's windows grow longer with age: one step of tiers.h, in a transaction. */
#include <assert.h>

#include "common/util/macro.h"
#include "daemon/store/open.h"
#include "daemon/store/store.h"

#define MAX_LOG_PAGES (4 * STORE_LOG_PAGES)

void store_hold(struct store *store)
{
	store->n_holders++;
}

void store_release(struct store *store)
{
	assert(store->n_holders > 0);
	store->n_holders--;
}

static int work(struct store *store, struct store_tiering_step *ret, struct fault *fault)
{
	int r, committed;

	r = database_begin_writing(store->database);
	if (r >= 0)
		r = store_tiering_work(&store->tiering, &store->settings, ret);
	committed = r < 0 ? r : database_commit(store->database);
	if (committed >= 0)
		return r;
	database_roll_back(store->database);
	store_intern_forget(&store->intern);
	store_trim_forget(&store->trim);
	store_tiering_forget(&store->tiering);
	return database_explain(store->database, committed, fault);
}

/* What is written at once does not wait in a long log: windows come first. */
static bool is_log_long(struct store *store)
{
	return store_is_file(store) && database_log_pages(store->database) >= MAX_LOG_PAGES &&
	       !store_checkpoint_is_complete(&store->checkpoint);
}

int store_roll(struct store *store, struct fault *fault)
{
	struct store_tiering_step step = { 0 };
	int r, healed;

	if (!store->database || store->n_holders > 0 || is_log_long(store) ||
	    (store->settings.tiers.n == 0 && store->settings.max_retention_us == 0))
		return 0;
	r = work(store, &step, fault);
	healed = store_heal(store, r, fault);
	if (r < 0 || healed < 0)
		return healed > 0 ? 0 : MIN(r, healed);
	store->n_windows -= step.n_merged + step.n_removed;
	store->n_removed += step.n_removed;
	store->longest_us = MAX(store->longest_us, step.length_us);
	if (store_is_file(store) && database_log_pages(store->database) >= STORE_LOG_PAGES)
		store_checkpoint_start(&store->checkpoint);
	return r;
}
