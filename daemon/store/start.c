/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a store begins, with its database or without. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/store/open.h"
#include "daemon/store/store.h"

static uint64_t boot_time_us(void)
{
	return clock_us(CLOCK_BOOTTIME);
}

static int make(struct store **ret, const char *path, const struct store_settings *settings)
{
	_cleanup_(store_freep) struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->lock_fd = -1;
	store->clock = boot_time_us;
	store_set_settings(store, settings);
	store->path = strdup(path);
	if (!store->path)
		return -ENOMEM;
	*ret = TAKE_PTR(store);
	return 0;
}

/* Whether what refused the database may pass, while this one is the only branchd that wants it. */
static bool may_pass(const struct store *store, int r)
{
	bool is_used = r == -EBUSY && store->lock_fd < 0;

	return !is_used && r != -ENOMEM && r != -ENAMETOOLONG;
}

static int open_store(struct store **ret, const char *path, const struct store_settings *settings,
		      bool later, struct fault *fault)
{
	_cleanup_(store_freep) struct store *store = NULL;
	int r;

	r = make(&store, path, settings);
	if (r < 0)
		return fault_set(fault, r, "%s: out of memory", path);
	r = store_want_database(store, fault);
	if (r < 0 && !(later && may_pass(store, r)))
		return r;
	if (r < 0) {
		store->unopened = r;
		store->why_unopened = *fault;
		store_open_to_read(store);
	}
	*ret = TAKE_PTR(store);
	return 0;
}

int store_open(struct store **ret, const char *path, const struct store_settings *settings,
	       struct fault *fault)
{
	return open_store(ret, path, settings, false, fault);
}

int store_open_later(struct store **ret, const char *path, const struct store_settings *settings,
		     struct fault *fault)
{
	return open_store(ret, path, settings, true, fault);
}
