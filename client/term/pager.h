/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pager between the output and the terminal: what $PAGER names, else less, or more. It is started
 * by the first line that no longer fits on the screen; what is shorter goes to the terminal as it
 * is.
 */
#pragma once

#include <stdio.h>

#include "common/util/macro.h"

struct pager;

/*
 * A file to write to, for a terminal of @n_lines; borrow it by pager_file(). -ENOENT where the user
 * wants no pager ($PAGER empty or "cat") or there is none, -ENOMEM. One that cannot be started is
 * no error: all goes to the terminal then. Once it runs, a write that it did not wait for gives
 * EPIPE, and an interrupt is the pager's.
 */
int pager_open(struct pager **ret, size_t n_lines);
FILE *pager_file(struct pager *pager);

/* Ends the output and waits until the user has left the pager. */
struct pager *pager_close(struct pager *pager);
DEFINE_CLEANUP(struct pager *, pager_close);
