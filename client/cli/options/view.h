/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a view: --by, and what goes with it. -EINVAL and a fault where it is used wrongly. */
#pragma once

#include <stdbool.h>

#include "client/cli/options/command-line.h"

/* Sets the second --by and the order of the rows, too. */
int options_check_view(struct command_line *parse);

/* A recording has no units, containers and users. */
int options_check_recorded_views(const struct command_line *parse);

/* @name is none that the command takes: always -EINVAL. */
int options_refuse_view(const struct command_line *parse, const char *name);

/* Whether rows are no branches, and count the mispredicted ones of each. */
bool options_are_of_mispredictions(const struct options *options);
