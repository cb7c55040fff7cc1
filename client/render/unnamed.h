/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What to do about windows with much code that has no symbols. */
#pragma once

#include "client/rpc/functions.h"
#include "client/term/output.h"
#include "client/top/top.h"

/*
 * A line that names the objects with most such samples; nothing below one sample in ten, and
 * nothing of a recording, whose objects render/problems.h explains. 0 or -ENOMEM.
 */
int unnamed_write(const struct top *top, struct output *output);

/*
 * For `branchctl status`: a line with the objects that have most samples in code without a symbol,
 * of what the daemon @counted by function; nothing if there are none. 0 or -ENOMEM.
 */
int unnamed_write_objects(const struct functions *counted, struct output *output);
