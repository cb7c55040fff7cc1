/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the daemon counts with each window is there soon, for a day as well: where it suffices. */
#pragma once

#include <stdbool.h>

#include "client/cli/options/options.h"
#include "common/profile/tables.h"

/* True if such counts are all that the options ask for, and *@ret is by what they are counted. */
bool options_counts_suffice(const struct options *options, enum functions_by *ret);

/* Else the tables of a profile that top needs, see tables.h; 0: all. */
unsigned int options_top_tables(const struct options *options);

/*
 * Whether top shows branches or blocks of all processes together, and no other table: then who took
 * them is not needed.
 */
bool options_top_sums_processes(const struct options *options);
