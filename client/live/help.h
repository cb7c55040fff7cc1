/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys of the live view, and what they do. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Lines of at most @width columns, if the words permit. */
void live_help_write(FILE *f, size_t width);

/* Their number. */
size_t live_help_lines(size_t width);
