/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unwind tables that the collector wants, on their way to the namer, which has a parser build
 * them, and back. The collector never waits here for what the namer does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/unwind/table.h"
#include "common/util/macro.h"

#define TABLE_EXCHANGE_MAX 1024 /* tables that are wanted, or wait for the collector */

struct wanted_table {
	uint64_t id;  /* of the request */
	bool is_vdso; /* then it is no file */
	uint32_t major, minor;
	uint64_t inode, generation;
};

struct built_table {
	uint64_t id;
	struct unwind_table table; /* without rows if the file has none, or it cannot be read */
	bool later;                /* there was no time for it now: it may be wanted again */
	bool slow; /* it took too much CPU time: it may be wanted again much later */
};

struct table_exchange;

/* 0 or -errno. */
int table_exchange_new(struct table_exchange **ret);
struct table_exchange *table_exchange_free(struct table_exchange *exchange);
DEFINE_CLEANUP(struct table_exchange *, table_exchange_free);

/* The collector's side: whether there was room for the request. */
bool table_exchange_want(struct table_exchange *exchange, const struct wanted_table *wanted);
/* True and *@ret, whose table belongs to the caller then; false: none is there. */
bool table_exchange_take_built(struct table_exchange *exchange, struct built_table *ret);

/* The namer's side. True and *@ret, to be answered; false: none is wanted. */
bool table_exchange_take_wanted(struct table_exchange *exchange, struct wanted_table *ret);
/* Takes over the table of @built. */
void table_exchange_put_built(struct table_exchange *exchange, struct built_table *built);
/* Readable while a table is wanted. */
int table_exchange_wanted_fd(const struct table_exchange *exchange);
