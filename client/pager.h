/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pager between the output and the terminal: what $PAGER names, else less, which leaves at once
 * where all fits on one screen.
 */
#pragma once

#include <stdio.h>

#include "common/util/macro.h"

struct pager;

/*
 * Starts one. -ENOENT where the user wants none ($PAGER empty or "cat"); errno of what failed. From
 * then on a write that the pager did not wait for gives EPIPE, and an interrupt is the pager's.
 */
int pager_open(struct pager **ret);

/* What goes to it; borrowed. */
FILE *pager_file(struct pager *pager);

/* Ends the output and waits until the user has left the pager. */
struct pager *pager_close(struct pager *pager);
DEFINE_CLEANUP(struct pager *, pager_close);
