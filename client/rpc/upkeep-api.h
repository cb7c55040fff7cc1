/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods of io.branchd for the upkeep of its database. Both wait until the daemon is done. */
#pragma once

#include <stdint.h>

#include <jansson.h>

#include "client/rpc/connection.h"
#include "common/util/fault.h"

struct upkeep_vacuumed {
	uint64_t n_windows; /* removed */
	uint64_t freed_bytes, bytes;
};

/* @max_bytes and @keep_us: 0: not given. -errno and @fault. */
int upkeep_api_vacuum(struct connection *connection, uint64_t max_bytes, uint64_t keep_us,
		      struct upkeep_vacuumed *ret, struct fault *fault);

/* *@ret is the reply, of the form that io.branchd.varlink says; the caller frees it with
 * json_decref(). */
int upkeep_api_verify(struct connection *connection, json_t **ret, struct fault *fault);
