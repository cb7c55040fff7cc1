/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects whose symbols were not found, said to the user in one line: of one the reason, of more
 * how many.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* Of @profile the share of its samples is told, too; NULL where there is none. */
void problems_say(const struct symbolizer *symbolizer, const struct profile *profile, FILE *f);

/* The same of a recording; the daemon has symbolized the profiles of its windows. */
void problems_say_source(const struct profile_source *source, FILE *f);
