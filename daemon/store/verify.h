/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verifies the database of a store, by a connection of its own: in another thread, while the store
 * goes on. It changes nothing, and tells the store nothing: what comes of damage is up to the first
 * who needs what is damaged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/database/problems.h"
#include "daemon/store/store.h"

struct store_verified {
	struct problems problems;
	uint64_t n_windows; /* checked */
	uint64_t n_bytes;   /* of the database */
	bool whole;         /* all was checked: nobody has stopped it */
};

struct store_verify;

/* 1; 0 if none can have it open besides the store; -errno and @fault. */
int store_verify_new(struct store_verify **ret, struct store *store, struct fault *fault);
struct store_verify *store_verify_free(struct store_verify *verify);
DEFINE_CLEANUP(struct store_verify *, store_verify_free);

/* In any thread, once. 0; or -errno and @fault: the database could not be read. */
int store_verify_work(struct store_verify *verify, struct fault *fault);
/* From any other thread: the work ends soon. */
void store_verify_stop(struct store_verify *verify);

/* After the work; borrowed. */
const struct store_verified *store_verify_get(const struct store_verify *verify);
