/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/error-reply.h"

#include <errno.h>

#include "common/json/json-text.h"
#include "daemon/api/reply-text.h"

struct bounds {
	int64_t first, last; /* ids */
	uint64_t since_us, until_us;
};

static int widen(const struct window *window, void *userdata)
{
	struct bounds *bounds = userdata;

	if (bounds->first == 0 || window->id < bounds->first) {
		bounds->first = window->id;
		bounds->since_us = window->start_us;
	}
	if (window->id >= bounds->last) {
		bounds->last = window->id;
		bounds->until_us = window->start_us + window->length_us;
	}
	return 0;
}

void error_reply_no_such_window(struct call *call, struct archive *archive)
{
	struct bounds bounds = {};
	struct fault fault = {};
	json_t *parameters = NULL;

	if (store_for_each(archive_get_store(archive), 0, UINT64_MAX, widen, &bounds, &fault) ==
		    0 &&
	    bounds.first > 0)
		parameters =
			json_pack("{sI sI sI sI}", "first", (json_int_t)bounds.first, "last",
				  (json_int_t)bounds.last, "since_us", (json_int_t)bounds.since_us,
				  "until_us", (json_int_t)bounds.until_us);
	call_error(call, "io.branchd.NoSuchWindow", parameters ?: json_object());
}

void error_reply_not_sampling(struct call *call)
{
	call_error(call, "io.branchd.NotSampling", NULL);
}

void error_reply_no_such_code(struct call *call)
{
	call_error(call, "io.branchd.NoSuchCode", NULL);
}

void error_reply(struct call *call, int r, const struct fault *fault)
{
	if (r == -E2BIG || r == -ETIME)
		call_error(call, "io.branchd.TooExpensive", NULL);
	else if (r == -ENODATA)
		call_error(call, "io.branchd.NotCounted", NULL);
	else if (r == -EMSGSIZE || r == -ENOBUFS)
		call_error(call, "io.branchd.TooLarge",
			   json_pack("{sI}", "max_bytes", (json_int_t)REPLY_MAX_BYTES));
	else if (r == -EBADMSG && *fault->text)
		call_error(call, "io.branchd.DatabaseDamaged",
			   json_pack("{so}", "message", json_text(fault->text)));
	else
		call_internal_error(call, r);
}
