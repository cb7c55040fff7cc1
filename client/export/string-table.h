/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers strings: each string has one number, and number 0 is "". */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

struct string_table;

int string_table_new(struct string_table **ret);
struct string_table *string_table_free(struct string_table *table);
DEFINE_CLEANUP(struct string_table *, string_table_free);

/* -ENOMEM. */
int64_t string_table_find(struct string_table *table, const char *s);

/* All strings in the order of their numbers, as clean text. */
size_t string_table_size(const struct string_table *table);
const char *string_table_get(const struct string_table *table, size_t number);
