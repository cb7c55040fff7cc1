/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last lines of the live view: what is typed, what went wrong, what a key did; or the keys. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "client/live/page-data.h"

#define LIVE_FOOT_MAX 3 /* lines; a message that needs more is cut off */

/* The number of lines: a long message takes more than one. */
size_t live_foot_lines(const struct live_page *page);

/* @position: which lines are shown, or "". */
void live_foot_write(FILE *f, const struct live_page *page, const char *position);
