/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/json-text.h"
#include "common/util/macro.h"
#include "daemon/varlink/parameters.h"

/* Decodes @text into *@bytes, which the filter's *@ret is then; 0 or -ENOMEM. */
static int set_filter_text(const char **ret, char **bytes, const char *text)
{
	if (!text)
		return 0;
	*ret = *bytes = json_text_bytes(text);
	return *bytes ? 0 : -ENOMEM;
}

/* The name of what is wrong, or NULL. */
static const char *check_range(const struct query_request *q, bool functions)
{
	if (functions && (q->n_parts < 1 || q->n_parts > QUERY_MAX_PARTS))
		return "parts";
	if (q->first < 0)
		return q->last < 0 ? NULL : "first";
	return q->last > 0 && (q->first == 0 || q->last < q->first) ? "last" : NULL;
}

int query_request_read(struct query_request *q, struct call *call, bool functions)
{
	const char *comm = NULL, *unit = NULL, *wrong;
	const struct parameter parameters[] = {
		{ "first", NULL, &q->first },    { "last", NULL, &q->last },
		{ "pid", NULL, &q->filter.pid }, { "uid", NULL, &q->filter.uid },
		{ "comm", &comm, NULL },         { "unit", &unit, NULL },
		{ "parts", NULL, &q->n_parts },
	};

	*q = (struct query_request){
		.first = -1,
		.last = -1,
		.n_parts = functions,
		.filter = PROFILE_FILTER_INIT,
	};
	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters) - !functions))
		return 0;
	wrong = check_range(q, functions);
	if (comm && strlen(comm) > FILTER_LIST_MAX)
		wrong = "comm";
	if (unit && strlen(unit) > FILTER_LIST_MAX)
		wrong = "unit";
	if (wrong) {
		call_invalid_parameter(call, wrong);
		return 0;
	}
	if (!call_is_privileged(call) && q->filter.uid >= 0 && q->filter.uid != call_uid(call)) {
		call_error(call, "org.varlink.service.PermissionDenied", NULL);
		return 0;
	}
	if (set_filter_text(&q->filter.comm, &q->comm, comm) < 0 ||
	    set_filter_text(&q->filter.unit, &q->unit, unit) < 0)
		return -ENOMEM;
	q->first = MAX(q->first, 0);
	q->last = q->last < 0 ? q->first : q->last;
	if (!call_is_privileged(call)) {
		q->filter.uid = call_uid(call);
		q->filter.visible = true;
	}
	return 1;
}

void query_request_done(struct query_request *request)
{
	free(request->comm);
	free(request->unit);
}
