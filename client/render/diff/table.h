/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A diff for people: in words, then a table.
 */
#pragma once

#include "client/diff/diff.h"
#include "client/term/output.h"

/* The views of one comparison, one after the other. 0 or -ENOMEM; output_close() reports write
 * errors. */
int diff_write_table(const struct diff *const *diffs, size_t n, struct output *output);
