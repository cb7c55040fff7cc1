/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd-parser reads the files of strangers for branchd and branchctl: it gets them as
 * descriptors over its standard input, a socket, and answers with bounded tables.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/parser/budget.h"
#include "daemon/parser/lifeline.h"
#include "daemon/parser/requests.h"
#include "daemon/parser/sandbox.h"

#define MMAP_THRESHOLD (64 << 10)

static int fail(const char *what, int r)
{
	fprintf(stderr, "branchd-parser: cannot %s: %s\n", what, strerror(-r));
	return EXIT_FAILURE;
}

int main(void)
{
	const char *what;
	int r;

	/* tables come and go with every file: their memory is returned */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	r = budget_init(STDIN_FILENO);
	if (r < 0)
		return fail("catch signals", r);
	r = lifeline_take(STDIN_FILENO, STDOUT_FILENO);
	if (r < 0)
		return r == -EPIPE ? EXIT_SUCCESS : fail("be tied to the client", r);
	r = sandbox_limit(&what);
	if (r < 0)
		return fail(what, r);
	r = sandbox_close();
	if (r < 0)
		return fail("limit system calls", r);
	return requests_serve(STDIN_FILENO) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
