/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl top --every`: a report of each period, until SIGINT or SIGTERM, or until the processes
 * that were asked for have ended; then one of the rest.
 */
#pragma once

#include "client/periodic/report.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"

struct periodic_settings {
	const char *socket;
	bool is_local; /* the daemon is that of this machine */
	struct symbolizer_settings symbols;
	uint64_t every_us;
	struct report_settings report;
};

/*
 * Reports go to stdout. A daemon that does not answer is said once on stderr, and waited for. 0, or
 * -errno and @fault if it cannot start, or cannot write.
 */
int periodic_run(const struct periodic_settings *settings, struct fault *fault);
