/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines above a table: the data that it was made from, and the data that it does not show.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/view/view.h"

/* Lines that say what is missing, if that is much. They begin with @whose. */
void summary_write_missing(FILE *f, const struct profile_source *source, const char *whose);

/* The same, but nothing of what is counted of all processes together. */
void summary_write_own(FILE *f, const struct profile_source *source, enum view_by by);

void summary_write(FILE *f, const struct profile_source *source, enum view_by by);
