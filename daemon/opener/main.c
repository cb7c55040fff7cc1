/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd-opener: opens files of other processes for branchd, which itself may not. Its connection
 * is its standard input; it ends with it.
 *
 * A file system may hang, and this process with it. Nobody needs to notice: an alarm ends it, and
 * branchd takes another one.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/launcher/capabilities.h"
#include "daemon/opener/serve.h"

static int drop_privileges(void)
{
	const struct rlimit no_core = {};

	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return -errno;
	return capabilities_keep(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
				 CAPABILITY(CAP_CHECKPOINT_RESTORE));
}

int main(void)
{
	sigset_t none;
	int r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	r = drop_privileges();
	if (r >= 0)
		r = serve_requests(STDIN_FILENO);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
