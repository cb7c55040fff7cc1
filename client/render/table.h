/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for people: columns as wide as they must be, and on a terminal no wider than that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/macro.h"

struct table;

enum table_flags {
	TABLE_RIGHT = 1 << 0, /* numbers */
	TABLE_ELIDE_NAME =
		1 << 1, /* shorten by elide_name() where the terminal is too narrow ... */
	TABLE_ELIDE_PATH = 1 << 2, /* ... or by elide_path() */
};

/* @width of the terminal, or 0: as wide as it takes. -ENOMEM. */
int table_new(struct table **ret, FILE *f, size_t width, bool colors);
struct table *table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free);

/* Before the first row. 0 or -ENOMEM. */
int table_add_column(struct table *table, const char *name, unsigned int flags);

/* The next row; its cells are then set by number. 0 or -ENOMEM. */
int table_add_row(struct table *table);
int table_set(struct table *table, size_t column, const char *text);
int table_printf(struct table *table, size_t column, const char *format, ...) _printf_(3, 4);
/* @color as libsmartcols names them: "red", "green"... */
int table_set_color(struct table *table, size_t column, const char *color);

/* The last row is of less interest. */
int table_dim_row(struct table *table);

/* Whether all of it fits the terminal, with names that are not next to nothing. */
bool table_fits(struct table *table);

int table_print(struct table *table);
