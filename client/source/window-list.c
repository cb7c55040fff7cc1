/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/window-list.h"

#include <errno.h>
#include <stdint.h>

#include "client/rpc/daemon-api.h"

int window_list_find(struct connection *connection, const struct window_ref *ref,
		     struct windows *windows, size_t *ret_first, size_t *ret_n, struct fault *fault)
{
	uint64_t since, until, n_newest;
	int r;

	window_ref_span(ref, &since, &until, &n_newest);
	r = daemon_api_list_windows(connection, since, until, n_newest, windows, fault);
	if (r < 0)
		return r;
	r = window_ref_resolve(ref, windows, ret_first, ret_n, fault);
	if (r != -ENOENT)
		return r;
	/* the fault names all windows */
	windows_done(windows);
	r = daemon_api_list_windows(connection, 0, UINT64_MAX, 0, windows, fault);
	return r < 0 ? r : window_ref_resolve(ref, windows, ret_first, ret_n, fault);
}
