/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the store: all that is due is merged and removed. */
#pragma once

#include "daemon/store/open.h"
#include "tests/support/temp-store.h"

/* Nothing is merged while a long log is copied, which takes as long as the disk wants: it waits. */
static inline void temp_store_roll_all(struct store *store)
{
	struct fault fault = { 0 };
	int r;

	for (int n_idle = 0; n_idle<2; n_idle = r> 0 ? 0 : n_idle + 1) {
		r = store_roll(store, &fault);
		TEMP_STORE_CHECK(r >= 0, "%s", fault.text);
		if (r == 0)
			store_checkpoint_wait(&store->checkpoint, 60000);
	}
}
