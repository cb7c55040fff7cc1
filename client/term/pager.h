/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pager between the output and the terminal: $PAGER, else less, or more. The first line that does
 * not fit on the screen starts it; shorter output goes to the terminal directly.
 */
#pragma once

#include <stdio.h>

#include "common/util/macro.h"

struct pager;

/*
 * For a terminal of @n_lines. -ENOENT if the user wants no pager ($PAGER empty or "cat") or none is
 * installed; -ENOMEM. If the pager cannot be started, all goes to the terminal. While it runs, an
 * interrupt is the pager's, and writes after its end give EPIPE.
 */
int pager_open(struct pager **ret, size_t n_lines);
/* The file to write to; borrowed. */
FILE *pager_file(struct pager *pager);

/* Ends the output and waits for the end of the pager. */
struct pager *pager_close(struct pager *pager);
DEFINE_CLEANUP(struct pager *, pager_close);
