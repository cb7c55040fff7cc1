/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up many offsets in a symbol table: the ranges of offsets that have the same function. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/symbol-table.h"

/*
 * [@first, @last] is in function @i of the table, or in none: SYMBOL_TABLE_NONE. Returns 0, or a
 * negative errno, which ends the loop and becomes its result.
 */
typedef int (*symbol_ranges_handler)(uint64_t first, uint64_t last, size_t i, void *userdata);

/* Sorts @offsets, and calls @handler for ranges that contain them all. */
int symbol_ranges_for_each(const struct symbol_table *table, uint64_t *offsets, size_t n,
			   symbol_ranges_handler handler, void *userdata);
