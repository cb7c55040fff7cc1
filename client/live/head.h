/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first lines of the live view: what is shown, of what time, under which filter. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "client/live/page-data.h"

/* The number of lines: fewer on a low screen. */
size_t live_head_lines(const struct live_page *page);
void live_head_write(FILE *f, const struct live_page *page);
