/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/mark-reply.h"

#include <string.h>

#include <errno.h>
#include <stdlib.h>

#include "common/json/json-text.h"
#include "common/util/clock.h"
#include "common/util/macro.h"
#include "daemon/api/error-reply.h"
#include "daemon/store/mark.h"
#include "daemon/varlink/parameters.h"

/* 0, and a new object in *@ret; or -errno and @fault. */
static int mark_json(struct store *store, const struct store_mark *mark, json_t **ret,
		     struct fault *fault)
{
	struct store_marked marked;
	int r = store_measure_mark(store, mark, &marked, fault);

	if (r < 0)
		return r;
	*ret = json_pack("{so sI sI sI sI sI sI sI sI sI}", "name", json_text(mark->name), "first",
			 (json_int_t)mark->first, "last", (json_int_t)mark->last, "windows",
			 (json_int_t)marked.n_windows, "since_us", (json_int_t)marked.since_us,
			 "until_us", (json_int_t)marked.until_us, "samples",
			 (json_int_t)marked.samples, "lost", (json_int_t)marked.lost, "made_us",
			 (json_int_t)mark->made_us, "uid", (json_int_t)mark->uid);
	return *ret ? 0 : -ENOMEM;
}

/* 0, and a new array in *@ret; or -errno and @fault. */
static int list_json(struct store *store, json_t **ret, struct fault *fault)
{
	json_t *list = json_array(), *mark = NULL;
	const struct store_mark *marks;
	size_t n;
	int r = list ? 0 : -ENOMEM;

	marks = store_get_marks(store, &n);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		r = mark_json(store, &marks[i], &mark, fault);
		if (r >= 0 && json_array_append_new(list, mark) < 0)
			r = -ENOMEM;
	}
	if (r < 0) {
		json_decref(list);
		return r;
	}
	*ret = list;
	return 0;
}

int mark_reply_write_list(struct store *store, FILE *f, struct fault *fault)
{
	json_t *list;
	int r = list_json(store, &list, fault);

	if (r < 0)
		return r;
	fputs("\"marks\":", f);
	r = json_dumpf(list, f, JSON_COMPACT);
	json_decref(list);
	return r < 0 ? -EIO : 0;
}

int mark_reply_list(struct call *call, struct store *store)
{
	struct fault fault = {};
	json_t *list;
	int r = list_json(store, &list, &fault);

	if (r < 0) {
		error_reply(call, r, &fault);
		return 0;
	}
	return call_reply(call, json_pack("{so si}", "marks", list, "max_marks", STORE_MAX_MARKS),
			  false);
}

static bool is_allowed(struct call *call)
{
	if (call_is_privileged(call))
		return true;
	call_error(call, "org.varlink.service.PermissionDenied", NULL);
	return false;
}

static void reply_failure(struct call *call, int r, const char *name, const struct fault *fault)
{
	if (r == -EEXIST)
		call_error(call, "io.branchd.MarkExists", json_pack("{ss}", "name", name));
	else if (r == -ENOENT)
		call_error(call, "io.branchd.NoSuchWindow", NULL);
	else if (r == -EMLINK || r == -EFBIG || r == -EDQUOT)
		call_error(call, "io.branchd.TooManyMarked",
			   json_pack("{so}", "message", json_text(fault->text)));
	else
		error_reply(call, r, fault);
}

/* Clients read these as times, so that nobody could use such a mark. */
static bool is_name(const char *name)
{
	static const char *const times[] = { "now", "today", "yesterday", "tomorrow" };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (strcmp(name, times[i]) == 0)
			return false;
	return store_mark_name_is_valid(name);
}

int mark_reply_add(struct call *call, struct store *store)
{
	struct store_mark mark = { .first = -1, .last = -1, .uid = call_uid(call) };
	const char *name = "";
	const struct parameter parameters[] = {
		{ "name", &name, NULL },
		{ "first", NULL, &mark.first },
		{ "last", NULL, &mark.last },
	};
	struct fault fault = {};
	json_t *json;
	int r;

	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)) || !is_allowed(call))
		return 0;
	mark.last = mark.last < 0 ? mark.first : mark.last;
	if (!is_name(name) || mark.first <= 0 || mark.last < mark.first) {
		call_invalid_parameter(call, !is_name(name)  ? "name" :
					     mark.first <= 0 ? "first" :
							       "last");
		return 0;
	}
	snprintf(mark.name, sizeof(mark.name), "%s", name);
	mark.made_us = clock_us(CLOCK_REALTIME);
	r = store_add_mark(store, &mark, &fault);
	if (r >= 0)
		r = mark_json(store, &mark, &json, &fault);
	if (r < 0) {
		reply_failure(call, r, name, &fault);
		return 0;
	}
	return call_reply(call, json_pack("{so}", "mark", json), false);
}

int mark_reply_delete(struct call *call, struct store *store)
{
	const char *name = "";
	const struct parameter parameters[] = { { "name", &name, NULL } };
	struct fault fault = {};
	int r;

	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)) || !is_allowed(call))
		return 0;
	if (!*name) {
		call_invalid_parameter(call, "name");
		return 0;
	}
	r = store_remove_mark(store, name, &fault);
	if (r < 0)
		error_reply(call, r, &fault);
	else if (r == 0)
		call_error(call, "io.branchd.NoSuchMark",
			   json_pack("{so}", "name", json_text(name)));
	else
		return call_reply(call, json_object(), false);
	return 0;
}
