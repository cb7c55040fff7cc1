/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for people: columns as wide as their cells, but within the width of the terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/macro.h"

struct table;

enum table_flags {
	TABLE_RIGHT = 1 << 0,      /* align right, for numbers */
	TABLE_ELIDE_NAME = 1 << 1, /* on a narrow terminal shorten by elide_name() ... */
	TABLE_ELIDE_PATH = 1 << 2, /* ... or by elide_path() */
	TABLE_YIELD = 1 << 3,      /* is shortened before the others are */
	TABLE_SPARE = 1 << 4,      /* left out, from the right, where names had no room else; of
				      them, those that yield at last */
};

/* @width is that of the terminal; 0: unlimited. -ENOMEM. */
int table_new(struct table **ret, FILE *f, size_t width, bool colors);
struct table *table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free);

/* That of the terminal, or 0. */
size_t table_width(const struct table *table);

/* Whether the terminal has no room for the objects of what has names. */
bool table_is_narrow(const struct table *table);

/* Before the first row. 0 or -ENOMEM. */
int table_add_column(struct table *table, const char *name, unsigned int flags);

/*
 * The columns added from now on belong to the group: its name, a literal, is above theirs. NULL: to
 * none. The columns of groups come first and have no flags but TABLE_RIGHT.
 */
void table_begin_group(struct table *table, const char *name);

/* The next row; its cells are then set by number. 0 or -ENOMEM. */
int table_add_row(struct table *table);
int table_set(struct table *table, size_t column, const char *text);
int table_printf(struct table *table, size_t column, const char *format, ...) _printf_(3, 4);
/* @color: a name of libsmartcols, such as "red" or "green". */
int table_set_color(struct table *table, size_t column, const char *color);

/* Dims the last row. */
int table_dim_row(struct table *table);

/* True if the table fits the terminal with names of a readable width. */
bool table_fits(struct table *table);

int table_print(struct table *table);
