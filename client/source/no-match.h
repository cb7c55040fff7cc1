/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters that nothing matches, and what there is instead. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/profile/filter.h"
#include "common/profile/profile.h"

/*
 * Says in one line that @filter, which selects processes, leaves nothing of the source @name; and
 * which processes have most samples in @all, or which units or containers if it selects those.
 */
void no_match_say(const char *name, const struct profile *all, const struct profile_filter *filter,
		  FILE *f);

/* The same where the filters select no processes, but an object or the function @symbol of @all;
 * NULL: an object alone. */
void no_match_say_place(const char *name, const char *symbol, const struct profile *all, FILE *f);

/* Where @symbol has few samples of @all: in one line the functions that have more and its name in
 * theirs, if any. */
void no_match_say_similar(const char *symbol, const struct profile *all, FILE *f);
