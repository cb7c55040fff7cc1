/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/vacuum.h"

#include "common/util/macro.h"
#include "daemon/store/open.h"

#define MAX_LOG_PAGES (4 * STORE_LOG_PAGES)

/* What is removed is written to the log first, where windows come first. */
static void copy_log(struct store *store, unsigned int min_pages)
{
	if (store_is_file(store) && database_log_pages(store->database) >= min_pages)
		store_checkpoint_start(&store->checkpoint, STORE_CHECKPOINT_COPY);
}

static bool must_wait(struct store *store)
{
	if (!store_is_file(store) || database_log_pages(store->database) < MAX_LOG_PAGES ||
	    store_checkpoint_is_complete(&store->checkpoint))
		return false;
	copy_log(store, 0);
	return true;
}

static int do_in_transaction(struct store *store, struct store_vacuum *vacuum)
{
	int r = database_begin_writing(store->database), q;

	if (r >= 0)
		r = store_vacuuming_step(&store->vacuuming, vacuum);
	q = r < 0 ? r : database_commit(store->database);
	return q < 0 ? q : r;
}

int store_vacuum_step(struct store *store, struct store_vacuum *vacuum, struct fault *fault)
{
	struct store_vacuum next = *vacuum;
	struct fault why;
	int r;

	store_close_removed(store);
	r = store_want_database(store, fault);
	if (r < 0)
		return r;
	if (must_wait(store))
		return 2;
	r = do_in_transaction(store, &next);
	if (r < 0) {
		database_roll_back(store->database);
		store_intern_forget(&store->intern);
		store_trim_forget(&store->trim);
		store_tiering_forget(&store->tiering);
		r = database_explain(store->database, r, fault);
		why = *fault;
		if (store_heal(store, r, &why) == 0)
			*fault = why;
		return r;
	}
	store->n_windows -= next.n_removed - vacuum->n_removed;
	store->n_removed += next.n_removed - vacuum->n_removed;
	*vacuum = next;
	copy_log(store, r == 0 ? 0 : STORE_LOG_PAGES);
	return r;
}
