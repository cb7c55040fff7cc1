/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/mark.h"

#include <errno.h>

#include "daemon/store/open.h"

const struct store_mark *store_get_marks(const struct store *store, size_t *ret_n)
{
	*ret_n = store->database ? store->marks.n : 0;
	return store->marks.rows;
}

/* Ends a transaction in which the marks were changed, with the answer @r. */
static int finish(struct store *store, int r, struct fault *fault)
{
	struct fault why;
	int committed = r <= 0 ? r : database_commit(store->database);

	if (committed >= 0 && r > 0) {
		store_secure_log(store);
		return r;
	}
	database_roll_back(store->database);
	if (committed == 0)
		return 0;
	/* memory may have more than the table */
	why = *fault;
	database_explain(store->database, committed, &why);
	store_close_database(store);
	*fault = why;
	return committed;
}

int store_measure_mark(struct store *store, const struct store_mark *mark, struct store_marked *ret,
		       struct fault *fault)
{
	int r = store_want_to_read(store, fault);

	if (r < 0)
		return r;
	r = store_marks_measure(&store->marks, mark, ret);
	return r < 0 ? database_explain(store->database, r, fault) : 0;
}

/* Says why a mark was refused. */
static int refuse(const struct store_mark *mark, int r, struct fault *fault)
{
	switch (r) {
	case -ENOENT:
		return fault_set(fault, r, "the first or the last window is not there");
	case -EEXIST:
		return fault_set(fault, r, "there is a mark '%s'", mark->name);
	case -EMLINK:
		return fault_set(fault, r, "there are %d marks, which is the maximum",
				 STORE_MAX_MARKS);
	case -EFBIG:
		return fault_set(fault, r, "all marks together would have more than %d windows",
				 STORE_MAX_MARKED_WINDOWS);
	default:
		return fault_set(fault, r,
				 "marked windows would take more than a quarter of the database");
	}
}

static bool is_refused(int r)
{
	return r == -ENOENT || r == -EEXIST || r == -EMLINK || r == -EFBIG || r == -EDQUOT;
}

int store_add_mark(struct store *store, const struct store_mark *mark, struct fault *fault)
{
	int r;

	store_close_removed(store);
	r = store_want_database(store, fault);
	if (r < 0)
		return r;
	r = database_begin_writing(store->database);
	if (r >= 0)
		r = store_marks_add(&store->marks, mark, store->settings.max_bytes);
	if (is_refused(r)) {
		database_roll_back(store->database);
		return refuse(mark, r, fault);
	}
	r = finish(store, r < 0 ? r : 1, fault);
	return MIN(r, 0);
}

int store_remove_mark(struct store *store, const char *name, struct fault *fault)
{
	int r;

	store_close_removed(store);
	r = store_want_database(store, fault);
	if (r < 0)
		return r;
	r = database_begin_writing(store->database);
	if (r >= 0)
		r = store_marks_remove(&store->marks, name);
	r = finish(store, r, fault);
	if (r > 0) { /* its windows may be merged, and lose rows */
		store_tiering_forget(&store->tiering);
		store_share_forget(&store->share);
		store_renew_forget(&store->renew);
	}
	return r;
}
