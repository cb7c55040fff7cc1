/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a query reads: it chooses the windows, takes the open one, and adds up the stored ones. */
#pragma once

#include "daemon/api/query-state.h"

/*
 * In one moment, takes a copy of the open window and notes which stored ones are wanted. 1; 0 if
 * the query was answered by an error; -errno.
 */
int query_begin(struct query *q);

/* Reads some of the stored windows that are left. 0; 1: they are left to a step; -errno. */
int query_read(struct query *q);

/* When all are read: whether processes are to be left out, and the step that does so. */
bool query_has_cut(const struct query *q);
int query_cut(struct query *q);

/* When all are read: looks up the programs, where they are asked for, until @until_us. 0; 1: there
 * are more; -errno. */
int query_find_programs(struct query *q, uint64_t until_us);

/* When all are read: names the rows of GetFunctions, until @until_us. 0; 1: there are more; -errno.
 */
int query_name(struct query *q, uint64_t until_us);
