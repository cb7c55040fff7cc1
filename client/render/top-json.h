/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl top` for scripts. */
#pragma once

#include <stdio.h>

#include "client/top/top.h"

/*
 * One object and a newline, written row by row without a copy in memory. 0 or -ENOMEM; ferror(f)
 * shows write errors.
 */
int top_write_json(const struct top *top, FILE *f);
