/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiles that a query has so far: its parts, which become one. */
#pragma once

#include "common/profile/profile.h"
#include "daemon/api/query-state.h"

/* The next part is a copy of what matches of @profile. 0 or -errno. */
int query_add_filtered(struct query *q, const struct profile *profile);
/* The next part is the sum of the stored windows read so far. 0 or -errno. */
int query_take_sum(struct query *q);
/* All parts become one, the query's own. 0 or -errno. */
int query_add_up(struct query *q);
void query_drop_parts(struct query *q);
