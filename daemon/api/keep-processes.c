/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/keep-processes.h"

#include "daemon/varlink/parameters.h"

static void count(struct keep_processes *keep, size_t n)
{
	bool any = n > 0, was_any = keep->n > 0;

	keep->n = n;
	if (any != was_any && keep->changed)
		keep->changed(any, keep->userdata);
}

static void on_gone(struct call *call, void *userdata)
{
	struct keep_processes *keep = userdata;

	count(keep, keep->n - 1);
}

int keep_processes_add(struct keep_processes *keep, struct call *call)
{
	int r;

	if (!parameters_read(call, NULL, 0))
		return 0;
	if (!call_wants_more(call)) {
		call_invalid_parameter(call, "more");
		return 0;
	}
	r = call_reply(call, json_object(), true);
	if (r < 0)
		return r;
	call_on_gone(call, on_gone, keep);
	count(keep, keep->n + 1);
	return 0;
}
