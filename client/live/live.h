/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl top` on a terminal: the last five minutes of this machine, told anew each second.
 */
#pragma once

#include <stdbool.h>

#include "client/cli/options.h"
#include "common/util/fault.h"

/* Is that what the options ask for, and where they are asked? */
bool live_is_wanted(const struct options *options);

/* Until the user quits. -errno and @fault where it cannot begin. */
int live_run(const struct options *options, struct fault *fault);
