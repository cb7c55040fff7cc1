/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A diff as JSON; described in branchctl(1).
 */
#pragma once

#include <stdio.h>

#include "client/diff/diff.h"

/* @n views of the same comparison. 0 or -ENOMEM; ferror(f) shows write errors. */
int diff_write_json(const struct diff *const *diffs, size_t n, FILE *f);
