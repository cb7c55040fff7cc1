/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd-events: opens perf events and loads the BPF programs for branchd, which has no privileges
 * of its own. Its standard input is the connection.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/events/service.h"

int main(void)
{
	const struct rlimit none = {};

	prctl(PR_SET_NAME, "branchd-events");
	setrlimit(RLIMIT_CORE, &none);
	return service_run(STDIN_FILENO) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
