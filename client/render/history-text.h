/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A share over time, as a table with a bar a point, and as JSON. */
#pragma once

#include <stdio.h>

#include "client/history/history.h"
#include "client/term/output.h"

/* @name: what was counted, for the heading. 0 or -ENOMEM. */
int history_write_table(const struct history *history, const char *name, uint64_t now_us,
			struct output *output);
int history_write_json(const struct history *history, const struct profile_filter *filter, FILE *f);
