/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl top` as a table. */
#pragma once

#include "client/term/output.h"
#include "client/top/top.h"

/* The rows with their headings; or the reason why there are none. 0 or -ENOMEM. */
int top_write_rows(const struct top *top, struct output *output);

/* The summary and the rows. 0 or -ENOMEM; output_close() reports write errors. */
int top_write_table(const struct top *top, struct output *output);
