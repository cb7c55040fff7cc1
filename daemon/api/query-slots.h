/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of hours, tens of minutes or minutes in a query of a long time: those that are kept are
 * taken, the others are made, for this query and the next. So a day is some thirty sums instead of
 * thousands of windows. A sum is as the one that retention will make of the same windows: processes
 * that have exited are one for each name, and it is pruned; what is pruned stays in the counters.
 *
 * Queries of all processes alone: what one of them counted is not to be pruned for others.
 */
#pragma once

#include <stddef.h>

#include "daemon/api/query-state.h"

/*
 * To be called before windows are read: 0, and *@ret_n of the next windows may be read together; 1:
 * no windows are to be read now, and if there is a step it comes first; -errno.
 */
int query_slots_next(struct query *q, size_t *ret_n);

/* The last window of the slot that is read, by its id; 0: none is. */
int64_t query_slots_last(const struct query *q);

/* @n of the next windows were read, of which @n_found were there. */
void query_slots_note_read(struct query *q, size_t n, size_t n_found);

/* The sum that was made, if there is one, is the next part. */
void query_slots_take_made(struct query *q);

/* The query is over. */
void query_slots_done(struct query *q);
