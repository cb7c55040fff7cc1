/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands of branchctl, one per file. Each writes its result to stdout. On failure it returns
 * -errno and the fault to print, else the exit status: 0, COMMAND_FOUND_NOTHING, and for run that
 * of what it ran.
 */
#pragma once

#include "client/cli/options/options.h"
#include "common/util/fault.h"

/* A result was written, but the filters left nothing for it, as stderr says. */
#define COMMAND_FOUND_NOTHING  1
/* A result was written, but some hosts did not answer, as stderr says. */
#define COMMAND_MISSED_HOSTS   1
/* The same of verify: the database is damaged, or not all of it could be read. */
#define COMMAND_FOUND_PROBLEMS 1

int command_status(const struct options *options, struct fault *fault);
int command_windows(const struct options *options, struct fault *fault);
int command_top(const struct options *options, struct fault *fault);
int command_top_hosts(const struct options *options, struct fault *fault); /* of top */
int command_diff(const struct options *options, struct fault *fault);
int command_find_change(const struct options *options, struct fault *fault); /* of diff */
int command_annotate(const struct options *options, struct fault *fault);
int command_dump(const struct options *options, struct fault *fault);
int command_run(const struct options *options, struct fault *fault);
int command_export(const struct options *options, struct fault *fault);
int command_flame(const struct options *options, struct fault *fault);
int command_history(const struct options *options, struct fault *fault);
int command_mark(const struct options *options, struct fault *fault);
int command_vacuum(const struct options *options, struct fault *fault);
int command_metrics(const struct options *options, struct fault *fault);
int command_verify(const struct options *options, struct fault *fault);
