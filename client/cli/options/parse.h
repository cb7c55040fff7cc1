/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line: one table of options for all commands. Options may stand before and after the
 * command and its operands.
 */
#pragma once

#include "client/cli/options/options.h"
#include "common/util/fault.h"

/*
 * Reads the command line. 1 and *@ret, for options_done(); 0 after writing help or version to
 * stdout; -EINVAL and
 * @fault for wrong usage.
 */
int options_parse(struct options *ret, int argc, char **argv, struct fault *fault);

void options_done(struct options *options);
