/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json-text.h"
#include "common/profile/patterns.h"
#include "common/util/macro.h"
#include "daemon/varlink/parameters.h"

/* The conditions as they were sent. */
struct conditions {
	int64_t pid, uid; /* -1: not given */
	const char *pids, *uids, *comm, *exclude_comm, *unit, *container, *symbol;
};

/* Decodes @text into *@bytes, which the filter's *@ret is then; 0 or -ENOMEM. */
static int set_text(const char **ret, char **bytes, const char *text)
{
	if (!text)
		return 0;
	*ret = *bytes = json_text_bytes(text);
	return *bytes ? 0 : -ENOMEM;
}

static int set_number(const char **ret, char **bytes, int64_t number)
{
	if (asprintf(bytes, "%" PRId64, number) < 0) {
		*bytes = NULL;
		return -ENOMEM;
	}
	*ret = *bytes;
	return 0;
}

static int set_numbers(const char **ret, char **bytes, int64_t number, const char *list)
{
	return number >= 0 ? set_number(ret, bytes, number) : set_text(ret, bytes, list);
}

static int set_filter(struct query_request *q, const struct conditions *c)
{
	struct profile_filter *filter = &q->filter;
	int r = set_numbers(&filter->pid, &q->texts[0], c->pid, c->pids);

	if (r >= 0)
		r = set_numbers(&filter->uid, &q->texts[1], c->uid, c->uids);
	if (r >= 0)
		r = set_text(&filter->comm, &q->texts[2], c->comm);
	if (r >= 0)
		r = set_text(&filter->exclude_comm, &q->texts[3], c->exclude_comm);
	if (r >= 0)
		r = set_text(&filter->unit, &q->texts[4], c->unit);
	if (r >= 0)
		r = set_text(&q->symbol, &q->texts[6], c->symbol);
	return r < 0 ? r : set_text(&filter->container, &q->texts[5], c->container);
}

static bool is_too_long(const char *list)
{
	return list && strlen(list) > PATTERNS_MAX;
}

/* The name of what is wrong, or NULL. */
static const char *check_lists(const struct conditions *c)
{
	if (c->pids && (c->pid >= 0 || !patterns_are_numbers(c->pids, INT32_MAX)))
		return "pids";
	if (c->uids && (c->uid >= 0 || !patterns_are_numbers(c->uids, UINT32_MAX)))
		return "uids";
	return is_too_long(c->comm)         ? "comm" :
	       is_too_long(c->exclude_comm) ? "exclude_comm" :
	       is_too_long(c->unit)         ? "unit" :
	       is_too_long(c->container)    ? "container" :
	       is_too_long(c->symbol)       ? "symbol" :
					      NULL;
}

/* Who is not privileged may ask for their own processes alone, and needs not. */
static bool is_denied(const struct call *call, const struct conditions *c)
{
	char own[32];

	snprintf(own, sizeof(own), "%" PRIu32, (uint32_t)call_uid(call));
	return !call_is_privileged(call) && ((c->uid >= 0 && c->uid != call_uid(call)) ||
					     (c->uids && strcmp(c->uids, own) != 0));
}

/* The name of what is wrong, or NULL. */
static const char *check_range(const struct query_request *q, bool functions)
{
	if (functions && (q->n_parts < 1 || q->n_parts > QUERY_MAX_PARTS))
		return "parts";
	if (q->limit < 0 ||
	    (q->limit > 0 && (q->by > SUM_PROCESS || q->by_program || q->n_parts != 1)))
		return "limit";
	if (q->until_us < q->since_us || (q->until_us > 0 && q->since_us == 0))
		return "until_us";
	if (q->first < 0)
		return q->last < 0 ? NULL : "first";
	return q->last > 0 && (q->first == 0 || q->last < q->first) ? "last" : NULL;
}

static bool parse_by(enum function_sum_kind *ret, const char *text)
{
	static const char *const names[N_SUM_KINDS] = {
		[SUM_FUNCTION] = "function", [SUM_OBJECT] = "object", [SUM_PROCESS] = "process",
		[SUM_COMM] = "comm",         [SUM_UNIT] = "unit",     [SUM_USER] = "user",
	};

	for (int i = 0; i < N_SUM_KINDS; i++)
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum function_sum_kind)i;
			return true;
		}
	return false;
}

int query_request_read(struct query_request *q, struct call *call, bool functions)
{
	struct conditions c = { .pid = -1, .uid = -1 };
	const char *by = NULL, *tables = NULL, *wrong;
	const struct parameter parameters[] = {
		{ "tables", &tables, NULL }, /* of GetProfile; and the last six of GetFunctions */
		{ "first", NULL, &q->first },
		{ "last", NULL, &q->last },
		{ "pid", NULL, &c.pid },
		{ "uid", NULL, &c.uid },
		{ "pids", &c.pids, NULL },
		{ "uids", &c.uids, NULL },
		{ "comm", &c.comm, NULL },
		{ "exclude_comm", &c.exclude_comm, NULL },
		{ "unit", &c.unit, NULL },
		{ "container", &c.container, NULL },
		{ "parts", NULL, &q->n_parts },
		{ "limit", NULL, &q->limit },
		{ "by", &by, NULL },
		{ "symbol", &c.symbol, NULL },
		{ "since_us", NULL, &q->since_us },
		{ "until_us", NULL, &q->until_us },
	};
	int r;

	*q = (struct query_request){
		.first = -1,
		.last = -1,
		.n_parts = functions,
		.tables = PROFILE_ALL_TABLES,
		.filter = PROFILE_FILTER_INIT,
	};
	if (!parameters_read(call, parameters + functions,
			     ARRAY_SIZE(parameters) - (functions ? 1 : 6)))
		return 0;
	q->by_program = by && strcmp(by, "program") == 0;
	if (by && !parse_by(&q->by, q->by_program ? "process" : by))
		wrong = "by";
	else
		wrong = check_range(q, functions) ?: check_lists(&c);
	if (c.symbol && q->by != SUM_FUNCTION)
		wrong = "symbol";
	if (tables && !profile_tables_parse(&q->tables, tables))
		wrong = "tables";
	if (wrong) {
		call_invalid_parameter(call, wrong);
		return 0;
	}
	if (is_denied(call, &c)) {
		call_error(call, "org.varlink.service.PermissionDenied", NULL);
		return 0;
	}
	q->first = MAX(q->first, 0);
	q->last = q->last < 0 ? q->first : q->last;
	if (!call_is_privileged(call)) {
		c.uid = call_uid(call);
		c.uids = NULL;
		q->filter.visible = true;
		q->tables = PROFILE_ALL_TABLES; /* from which it is counted what they may see */
	}
	r = set_filter(q, &c);
	return r < 0 ? r : 1;
}

void query_request_done(struct query_request *request)
{
	for (size_t i = 0; i < QUERY_N_TEXTS; i++)
		free(request->texts[i]);
}
