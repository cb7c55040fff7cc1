/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making the database of a store small at once: see daemon/retention/vacuum.h. */
#pragma once

#include "common/util/fault.h"
#include "daemon/retention/vacuum.h"
#include "daemon/store/store.h"

/*
 * A piece of some ms. 1: there is more to do; 2: there is, but the log is to be copied first; 0: it
 * is done; -errno and @fault: it cannot go on, but what went is gone.
 */
int store_vacuum_step(struct store *store, struct store_vacuum *vacuum, struct fault *fault);
