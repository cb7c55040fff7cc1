/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers in a table, in the last row added. 0 or -ENOMEM. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/render/table.h"

/* @part of @all in percent; large ones are coloured. */
int cell_set_percent(struct table *table, size_t column, uint64_t part, uint64_t all);
int cell_set_count(struct table *table, size_t column, uint64_t count);
/* The mean, or a dash. */
int cell_set_average(struct table *table, size_t column, uint64_t sum, uint64_t n);
