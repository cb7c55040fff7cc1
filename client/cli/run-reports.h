/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl run --every`: what was sampled of the command since the last report. */
#pragma once

#include <stdbool.h>

#include "client/cli/options/options.h"
#include "client/launch/launch.h"
#include "common/util/fault.h"

struct run_reports;

/* Before the command starts. @by_daemon: it samples. *@ret is NULL without --every. Borrows
 * @options. */
int run_reports_new(struct run_reports **ret, const struct options *options, bool by_daemon,
		    struct fault *fault);
struct run_reports *run_reports_free(struct run_reports *reports);
DEFINE_CLEANUP(struct run_reports *, run_reports_free);

/* For launch_run(). */
struct launch_reports run_reports_launch(struct run_reports *reports);
