/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl top` as a table. */
#pragma once

#include "client/term/output.h"
#include "client/view/top.h"

/*
 * The rows alone, with their headings; or why there are none. 0 or -ENOMEM, as the next.
 */
int top_write_rows(const struct top *top, struct output *output);

/* What it is of, and the rows. What could not be written is output_close()'s to say. */
int top_write_table(const struct top *top, struct output *output);
