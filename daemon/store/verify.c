/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/database/file-check.h"
#include "daemon/rows/window-check.h"
#include "daemon/store/open.h"

struct store_verify {
	struct database *database;
	struct store_counters counters;
	struct store_read read;
	struct store_functions functions;
	struct window_check windows;
	struct store_verified verified;
};

struct store_verify *store_verify_free(struct store_verify *verify)
{
	if (!verify)
		return NULL;
	window_check_done(&verify->windows);
	database_free(verify->database);
	free(verify);
	return NULL;
}

int store_verify_new(struct store_verify **ret, struct store *store, struct fault *fault)
{
	_cleanup_(store_verify_freep) struct store_verify *verify = NULL;
	int r;

	verify = calloc(1, sizeof(*verify));
	if (!verify)
		return fault_set(fault, -ENOMEM, "%s: out of memory", store->path);
	r = store_is_read_only(store) ? store_want_database(store, fault) :
					store_open_own(store, &verify->database, fault);
	if (r <= 0)
		return r;
	database_allow_stop(verify->database);
	*ret = TAKE_PTR(verify);
	return 1;
}

void store_verify_stop(struct store_verify *verify)
{
	database_stop(verify->database);
}

const struct store_verified *store_verify_get(const struct store_verify *verify)
{
	return &verify->verified;
}

static int prepare(struct store_verify *verify)
{
	struct database *database = verify->database;
	int r;

	r = store_counters_init(&verify->counters, database);
	if (r >= 0)
		r = store_read_init(&verify->read, database, &verify->counters);
	if (r >= 0)
		r = store_functions_init(&verify->functions, database);
	if (r >= 0)
		r = window_check_init(&verify->windows, database, &verify->read,
				      &verify->functions);
	return r;
}

typedef int (*check)(struct database *database, struct problems *problems);

/* No transaction is longer than a check, so that the log can be copied between them. */
static int check_file(struct store_verify *verify)
{
	static const check checks[] = { file_check_pages, file_check_references, file_check_seen };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(checks); i++)
		r = checks[i](verify->database, &verify->verified.problems);
	return r;
}

static int check_window(struct store_verify *verify, int64_t id)
{
	int r = database_begin_reading(verify->database);

	if (r >= 0)
		r = window_check_run(&verify->windows, id, &verify->verified.problems);
	database_roll_back(verify->database); /* nothing was written */
	verify->verified.n_windows += r > 0;
	return r;
}

static int check_windows(struct store_verify *verify)
{
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0;
	int r;

	r = store_read_list(&verify->read, 0, UINT64_MAX, 0, &windows, &n);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = database_is_stopped(verify->database) ? -EINTR :
							    check_window(verify, windows[i].id);
	return MIN(r, 0);
}

static int measure(struct store_verify *verify)
{
	int64_t n_pages = 0, page_bytes = 0;
	int r = database_ask(verify->database, "PRAGMA page_count", &n_pages);

	if (r >= 0)
		r = database_ask(verify->database, "PRAGMA page_size", &page_bytes);
	verify->verified.n_bytes = (uint64_t)(n_pages * page_bytes);
	return r;
}

int store_verify_work(struct store_verify *verify, struct fault *fault)
{
	struct problems *problems = &verify->verified.problems;
	int r;

	r = file_check_note(verify->database, measure(verify), "file", problems);
	if (r >= 0)
		r = check_file(verify);
	/* what the tables lack is said once */
	if (r >= 0)
		r = prepare(verify);
	if (r >= 0)
		r = check_windows(verify);
	r = file_check_note(verify->database, r, "tables", problems);
	verify->verified.whole = r >= 0;
	return r == -EINTR || r >= 0 ? 0 : fault_set(fault, r, "%s", strerror(-r));
}
