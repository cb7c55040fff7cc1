/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unwind tables of mapped objects, as the collector has them. A table is asked for when the
 * first stack leads through its object, and comes a while later. The tables together have a limit:
 * those that were not needed for longest go first, and are asked for again when they are needed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/process/address-space.h"
#include "common/unwind/table.h"
#include "common/util/macro.h"
#include "daemon/unwind/table-exchange.h"

struct object_tables;

/* Borrows @exchange; NULL: there are no tables. @max_bytes: of all tables. 0 or -ENOMEM. */
int object_tables_new(struct object_tables **ret, struct table_exchange *exchange,
		      size_t max_bytes);
struct object_tables *object_tables_free(struct object_tables *tables);
DEFINE_CLEANUP(struct object_tables *, object_tables_free);

enum object_table {
	OBJECT_TABLE_NONE,    /* code without tables: it may have frame pointers */
	OBJECT_TABLE_COMING,  /* it was asked for, or will be in the next turn */
	OBJECT_TABLE_UNKNOWN, /* it cannot be had now, and is asked for again later */
	OBJECT_TABLE_THERE,
};

/* *@ret is borrowed until object_tables_update(); NULL unless the table is there. */
enum object_table object_tables_find(struct object_tables *tables, struct object *object,
				     const struct unwind_table **ret);

/*
 * The rule at @offset of the file of @object, whose table is @table: as unwind_table_find(), but
 * those that were found before are remembered. Where there is none, *@ret_by_fp is whether the code
 * may have frame pointers, as unwind_table_is_other_code() says.
 */
const struct unwind_rule *object_tables_find_rule(struct object_tables *tables,
						  const struct object *object,
						  const struct unwind_table *table, uint64_t offset,
						  bool *ret_by_fp);

/* Takes the tables that have come. Whether to look again for those that are coming. */
bool object_tables_update(struct object_tables *tables);

/* The bytes of all tables, and their number. */
size_t object_tables_bytes(const struct object_tables *tables, size_t *ret_n);
