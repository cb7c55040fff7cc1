/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where results go, a terminal with a pager or any other stdout; its width and colours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/term/color.h"
#include "client/term/pager.h"
#include "common/util/fault.h"

struct output_settings {
	FILE *to; /* NULL: stdout. Else there is no pager, and it remains the caller's */
	bool no_pager;
	enum color_mode color;
};

struct output {
	FILE *f;
	struct pager *pager; /* NULL: none */
	size_t width;        /* of the terminal; 0: unlimited */
	bool colors;
};

/* Call it when there is a result. If no pager can be started, it does without. */
void output_open(struct output *ret, const struct output_settings *settings);

/* Flushes. -errno and @fault (unless NULL) if the output could not be written. */
int output_close(struct output *output, struct fault *fault);
