/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The desktop of the user, which shows files by their programs. */
#pragma once

#include "common/util/fault.h"

/*
 * Shows the file that was written to @path with xdg-open, whose own messages are dropped. Negative
 * if it cannot be shown; the fault says where the file is.
 */
int desktop_show(const char *path, struct fault *fault);
