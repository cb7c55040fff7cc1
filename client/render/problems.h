/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports objects without symbols in one line: the names of the hottest, and the reason if all
 * have the same.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* With @profile, which may be NULL, also the share of its samples. */
void problems_say(const struct symbolizer *symbolizer, const struct profile *profile, FILE *f);

/* The same of a recording; the daemon has symbolized the profiles of its windows. */
void problems_say_source(const struct profile_source *source, FILE *f);
