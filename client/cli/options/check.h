/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the words of a command line go together: command, operands and options. */
#pragma once

#include "client/cli/options/command-line.h"

/* -EINVAL and a fault if they do not. Sets the options that follow from several words. */
int options_check(struct command_line *parse);
