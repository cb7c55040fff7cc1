/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gets the unwind tables that the collector wants: from the cache on disk, or from a parser, within
 * a budget for each owner of files. What the cache has does not wait for what a parser has to
 * build. Tables of trusted files go into the cache.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/parser/parser.h"
#include "daemon/naming/budget.h"
#include "daemon/naming/file-table.h"
#include "daemon/sampler/mapped-files.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/unwind/table-exchange.h"

/* The pointers are borrowed; all else is zero at first. */
struct table_builder {
	struct parser *parser;
	struct file_table *files;
	struct mapped_files *mapped; /* that were not opened yet */
	struct table_exchange *exchange;
	struct kept_files *cache;                        /* NULL: none */
	struct budget budget;                            /* until the next window */
	struct wanted_table waiting[TABLE_EXCHANGE_MAX]; /* for a parser; all open requests fit */
	size_t first, n_waiting;
};

/* The next window has a budget of its own. */
void table_builder_renew_budget(struct table_builder *builder);

/* Works for up to @us, or until there is nothing to do, or *@hurry. Whether tables wait still. */
bool table_builder_run(struct table_builder *builder, uint64_t us, const _Atomic bool *hurry);
