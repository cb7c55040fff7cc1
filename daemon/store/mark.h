/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The marks of a store: names of windows, which are kept as long as they have one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "daemon/retention/marks.h"
#include "daemon/store/store.h"

/* Sorted by name. None if no database is open. Borrowed until the next call of a store's function.
 */
const struct store_mark *store_get_marks(const struct store *store, size_t *ret_n);

/* What the windows of a mark are. 0, or -errno and @fault. */
int store_measure_mark(struct store *store, const struct store_mark *mark, struct store_marked *ret,
		       struct fault *fault);

/* Adds a mark: 0, or -errno and @fault, as store_marks_add() has it. */
int store_add_mark(struct store *store, const struct store_mark *mark, struct fault *fault);

/* 1; 0: there is no mark of that name; or -errno and @fault. */
int store_remove_mark(struct store *store, const char *name, struct fault *fault);
