/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a profile that have many rows, and lists of their names: "stacks,branches". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

enum profile_table {
	PROFILE_STACKS,
	PROFILE_STREAMS,
	PROFILE_BRANCHES,
	PROFILE_BLOCKS,
	N_PROFILE_TABLES,
};

/* A set of them: bits. */
#define PROFILE_TABLE(table) (1u << (table))
#define PROFILE_ALL_TABLES   (PROFILE_TABLE(N_PROFILE_TABLES) - 1)

/* Of the longest list, with its NUL. */
#define PROFILE_TABLES_TEXT_MAX 40

/* False if @list has another word, or none. */
bool profile_tables_parse(unsigned int *ret, const char *list);
/* At most PROFILE_TABLES_TEXT_MAX bytes. */
void profile_tables_format(char text[PROFILE_TABLES_TEXT_MAX], unsigned int tables);

/* Empties these tables, not the counters; objects and functions stay until it is finalized again.
 */
void profile_drop_tables(struct profile *profile, unsigned int tables);
