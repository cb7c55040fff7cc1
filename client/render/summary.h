/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines above a table: the data that it was made from, and the data that it does not show. 0 or
 * -ENOMEM.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/view/view.h"

/* Lines that say what is missing, if that is much. They begin with @whose. */
void summary_write_missing(FILE *f, const struct profile_source *source, const char *whose);

/* The same as messages to the user. */
void summary_say_missing(const struct profile_source *source, FILE *f);

int summary_write(struct output *output, const struct profile_source *source, enum view_by by);
/* Nothing of what is counted of all processes together. */
int summary_write_own(struct output *output, const struct profile_source *source, enum view_by by);
