/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live view as lines of text: a heading, the lines of a screen, a line of keys. */
#pragma once

#include <stddef.h>

#include "client/live/page-data.h"

/* The number of lines to scroll through, and the number that fits on the screen. */
size_t live_page_n_lines(const struct live_page *page);
size_t live_page_room(const struct live_page *page);

/* All lines of the screen. Heap; NULL if out of memory. */
char *live_page_format(const struct live_page *page);
