/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where results go: a terminal, through a pager, or whatever stdout is; its width and colours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/term/color.h"
#include "client/term/pager.h"
#include "common/util/fault.h"

struct output_settings {
	bool no_pager;
	enum color_mode color;
};

struct output {
	FILE *f;
	struct pager *pager; /* NULL: none */
	size_t width;        /* of the terminal, 0: as wide as it takes */
	bool colors;
};

/* Once there is a result to show. Where there can be no pager, there is none. */
void output_open(struct output *ret, const struct output_settings *settings);

/* Writes what is left. -errno and, unless NULL, @fault where the output could not be written. */
int output_close(struct output *output, struct fault *fault);
