/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd-parser reads the files of strangers for branchd and branchctl: it gets them as
 * descriptors over its standard input, a socket, and answers with bounded tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/parser/budget.h"
#include "daemon/parser/requests.h"
#include "daemon/parser/sandbox.h"

static int fail(const char *what, int r)
{
	fprintf(stderr, "branchd-parser: cannot %s: %s\n", what, strerror(-r));
	return EXIT_FAILURE;
}

int main(void)
{
	const char *what;
	int r;

	r = budget_init(STDIN_FILENO);
	if (r < 0)
		return fail("catch signals", r);
	r = sandbox_limit(&what);
	if (r < 0)
		return fail(what, r);
	r = sandbox_close();
	if (r < 0)
		return fail("limit system calls", r);
	return requests_serve(STDIN_FILENO) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
