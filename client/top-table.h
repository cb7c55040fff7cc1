/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl top` as a table. */
#pragma once

#include "client/output.h"
#include "client/top.h"

/* 0 or -ENOMEM; what could not be written is output_close()'s to say. */
int top_write_table(const struct top *top, struct output *output);
