/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of many hosts answered, and how long each took. */
#pragma once

#include <jansson.h>

#include "client/source/profile-source.h"
#include "client/term/output.h"

/* A line for each host that did not answer. */
void hosts_say(const struct profile_source *source, FILE *f);

/* Those that answered, the slowest first, at most @n_rows (0: all). 0 or -ENOMEM. */
int hosts_write_table(const struct profile_source *source, size_t n_rows, struct output *output);

/* All of them, in the order of the list. NULL: out of memory. */
json_t *json_hosts(const struct profile_source *source);
