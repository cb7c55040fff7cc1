/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interpreters, whose functions say little of the program that they run. */
#pragma once

#include "client/term/output.h"
#include "client/top/top.h"

/*
 * One line where much of what @top shows, by function, runs in an interpreter that can name the
 * functions of its programs, and nothing was named so. 0 or -ENOMEM.
 */
int interpreters_write(const struct top *top, struct output *output);
