/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads profiles from a store by a connection of its own: a large window, which takes long to read,
 * is read in another thread while the store goes on. It does not heal: whoever finds damage tells
 * the store (store_report_damage()).
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/retention/merge.h"
#include "daemon/rows/batch.h"
#include "daemon/store/store.h"

struct store_reader;

/* Of the database that the store has open: 1; 0 if none can have it open besides the store; -errno
 * and @fault. */
int store_reader_new(struct store_reader **ret, struct store *store, struct fault *fault);
struct store_reader *store_reader_free(struct store_reader *reader);
DEFINE_CLEANUP(struct store_reader *, store_reader_free);

/* In any thread, but only one at a time: as store_read_sum(); and the sum of windows that are to be
 * merged. */
int store_reader_sum(struct store_reader *reader, const struct store_batch *batch,
		     struct window_sum *sum, size_t *ret_n, struct fault *fault);
int store_reader_merge(struct store_reader *reader, struct store_merge *merge, struct fault *fault);
