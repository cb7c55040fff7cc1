/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of top that are functions, objects, processes and the like. 0 or -ENOMEM. */
#pragma once

#include <stddef.h>

#include "client/render/table.h"
#include "client/top/top.h"

int share_rows_add_columns(const struct top *top, struct table *table);
/* Row @i of the view, into the last row added. */
int share_rows_fill(const struct top *top, struct table *table, size_t i);
