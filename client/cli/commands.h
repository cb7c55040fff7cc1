/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands of branchctl, one per file. Each writes its result to stdout. On failure it returns
 * -errno and the fault to print, else 0; run the exit status of what it ran.
 */
#pragma once

#include "client/cli/options.h"
#include "common/util/fault.h"

int command_status(const struct options *options, struct fault *fault);
int command_windows(const struct options *options, struct fault *fault);
int command_top(const struct options *options, struct fault *fault);
int command_diff(const struct options *options, struct fault *fault);
int command_find_change(const struct options *options, struct fault *fault); /* of diff */
int command_annotate(const struct options *options, struct fault *fault);
int command_dump(const struct options *options, struct fault *fault);
int command_run(const struct options *options, struct fault *fault);
int command_export(const struct options *options, struct fault *fault);
int command_flame(const struct options *options, struct fault *fault);
int command_history(const struct options *options, struct fault *fault);
