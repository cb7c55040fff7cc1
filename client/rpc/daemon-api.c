/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/daemon-api.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/json-member.h"
#include "client/rpc/reply-error.h"
#include "client/rpc/windows-json.h"
#include "common/json/json-cleanup.h"
#include "common/json/profile-json.h"
#include "common/util/cleanup.h"

static int parse(const struct answer *answer, json_t **ret, struct fault *fault)
{
	json_error_t error;

	*ret = json_loadb(answer->text, answer->n_bytes, 0, &error);
	return *ret ? 0 : reply_error_unreadable(fault, error.text);
}

int daemon_api_get_status(struct connection *connection, json_t **ret, struct fault *fault)
{
	struct answer answer;
	int r = connection_call(connection, "io.branchd.GetStatus", json_object(), &answer, fault);

	return r < 0 ? reply_error_explain(&answer, r, fault) : parse(&answer, ret, fault);
}

/* Members of answers that are too long to be parsed as a whole. */
enum { PROFILE, PLACES, PARTS, WINDOWS, MARKS, LEFT_OUT, N_MEMBERS };

struct members {
	struct json_member of[N_MEMBERS];
};

static int find_members(const struct answer *answer, struct members *ret, struct fault *fault)
{
	*ret = (struct members){ {
		[PROFILE] = { .name = "profile" },
		[PLACES] = { .name = "places" },
		[PARTS] = { .name = "parts" },
		[WINDOWS] = { .name = "windows" },
		[MARKS] = { .name = "marks" },
		[LEFT_OUT] = { .name = "left_out" },
	} };
	if (json_members_find(answer->text, answer->n_bytes, ret->of, N_MEMBERS) < 0)
		return reply_error_unreadable(fault, "no object");
	return 0;
}

/* Those which older daemons do not have. */
static int take_marks(const struct members *members, struct windows *ret, struct fault *fault)
{
	const struct json_member *marks = &members->of[MARKS];

	return marks->text ? windows_read_marks(ret, marks->text, marks->n_bytes, fault) : 0;
}

static int take_windows(const struct members *members, struct windows *ret, struct fault *fault)
{
	const struct json_member *windows = &members->of[WINDOWS];

	if (!windows->text)
		return reply_error_unreadable(fault, "no windows");
	return windows_read(ret, windows->text, windows->n_bytes, fault);
}

static json_t *pack_span(uint64_t since_us, uint64_t until_us, uint64_t n_newest)
{
	json_t *parameters = json_object();

	if (since_us > 0)
		json_object_set_new(parameters, "since_us", json_integer((json_int_t)since_us));
	if (until_us <= INT64_MAX)
		json_object_set_new(parameters, "until_us", json_integer((json_int_t)until_us));
	if (n_newest > 0)
		json_object_set_new(parameters, "latest", json_integer((json_int_t)n_newest));
	return parameters;
}

int daemon_api_list_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			    uint64_t n_newest, struct windows *ret, struct fault *fault)
{
	struct members members;
	struct answer answer;
	int r;

	r = connection_call(connection, "io.branchd.ListWindows",
			    pack_span(since_us, until_us, n_newest), &answer, fault);
	if (r < 0)
		return reply_error_explain(&answer, r, fault);
	r = find_members(&answer, &members, fault);
	if (r >= 0)
		r = take_marks(&members, ret, fault);
	return r < 0 ? r : take_windows(&members, ret, fault);
}

int daemon_api_list_marks(struct connection *connection, struct windows *ret, struct fault *fault)
{
	struct members members;
	struct answer answer;
	int r;

	r = connection_call(connection, "io.branchd.ListMarks", json_object(), &answer, fault);
	if (r < 0)
		return reply_error_explain_mark(&answer, r, fault);
	r = find_members(&answer, &members, fault);
	return r < 0 ? r : take_marks(&members, ret, fault);
}

int daemon_api_add_mark(struct connection *connection, const struct window_mark *mark,
			struct windows *ret, struct fault *fault)
{
	_cleanup_json_ json_t *json = NULL;
	struct answer answer;
	int r;

	r = connection_call(connection, "io.branchd.AddMark",
			    json_pack("{s:s, s:I, s:I}", "name", mark->name, "first",
				      (json_int_t)mark->first, "last", (json_int_t)mark->last),
			    &answer, fault);
	if (r < 0)
		return reply_error_explain_mark(&answer, r, fault);
	r = parse(&answer, &json, fault);
	return r < 0 ? r : windows_read_mark(ret, json_object_get(json, "mark"), fault);
}

int daemon_api_delete_mark(struct connection *connection, const char *name, struct fault *fault)
{
	struct answer answer;
	int r;

	r = connection_call(connection, "io.branchd.DeleteMark", json_pack("{s:s}", "name", name),
			    &answer, fault);
	if (r >= 0)
		return 0;
	if (r == -EREMOTEIO && reply_error_is(&answer, "NoSuchMark"))
		return fault_set(fault, -ENOENT, "no mark is named '%s'", name);
	return reply_error_explain_mark(&answer, r, fault);
}

int daemon_api_follow_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			      daemon_api_handler handler, void *userdata, struct fault *fault)
{
	struct answer answer;
	int r;

	r = connection_call_more(connection, "io.branchd.ListWindows",
				 pack_span(since_us, until_us, 0), &answer, fault);
	for (;;) {
		_cleanup_(windows_done) struct windows windows = {};
		struct members members;

		if (r < 0)
			return reply_error_explain(&answer, r, fault);
		r = find_members(&answer, &members, fault);
		if (r >= 0)
			r = take_windows(&members, &windows, fault);
		if (r < 0)
			return r;
		r = handler(&windows, userdata);
		if (r != 0 || !answer.continues)
			return r;
		r = connection_next(connection, &answer, fault);
	}
}

int daemon_api_keep_processes(struct connection *connection, struct fault *fault)
{
	struct answer answer;
	int r = connection_call_more(connection, "io.branchd.KeepProcesses", json_object(), &answer,
				     fault);

	return r < 0 ? reply_error_explain(&answer, r, fault) : 0;
}

/* The number of bytes, or -EINVAL. */
static int read_code(const json_t *json, struct daemon_api_code *ret)
{
	json_int_t machine = json_integer_value(json_object_get(json, "machine"));
	const char *hex = json_string_value(json_object_get(json, "code"));
	size_t length = hex ? strlen(hex) : 0, n;

	if (!hex || length % 2 != 0 || strspn(hex, "0123456789abcdef") != length || machine < 0 ||
	    machine > UINT16_MAX)
		return -EINVAL;
	n = MIN(ret->n, length / 2);
	for (size_t i = 0; i < n; i++)
		sscanf(hex + 2 * i, "%2hhx", &ret->bytes[i]);
	ret->machine = (uint16_t)machine;
	return (int)n;
}

static json_t *pack_code_request(const struct profile_object *object, uint64_t start)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < object->n_build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
	if (!object->untrusted)
		return json_pack("{s:s, s:I}", "build_id", hex, "start", (json_int_t)start);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "build_id", hex, "start",
			 (json_int_t)start, "major", (json_int_t)object->major, "minor",
			 (json_int_t)object->minor, "inode", (json_int_t)object->inode, "ctime_ns",
			 (json_int_t)object->ctime_ns);
}

int daemon_api_get_code(struct connection *connection, const struct profile_object *object,
			uint64_t start, struct daemon_api_code *ret, struct fault *fault)
{
	_cleanup_json_ json_t *json = NULL;
	struct answer answer;
	int r;

	if (object->n_build_id == 0 || start > INT64_MAX)
		return 0;
	r = connection_call(connection, "io.branchd.GetCode", pack_code_request(object, start),
			    &answer, fault);
	if (r == -EREMOTEIO &&
	    (reply_error_is(&answer, "NoSuchCode") || reply_error_is_denied(&answer)))
		return 0;
	if (r < 0)
		return reply_error_explain(&answer, r, fault);
	r = parse(&answer, &json, fault);
	if (r < 0)
		return r;
	r = read_code(json, ret);
	return r < 0 ? reply_error_unreadable(fault, "invalid code") : r;
}

/* One number is what older daemons understand, too. */
static void set_numbers(json_t *parameters, const char *one, const char *several, const char *list)
{
	if (strchr(list, ','))
		json_object_set_new(parameters, several, json_string(list));
	else
		json_object_set_new(parameters, one, json_integer(strtoll(list, NULL, 10)));
}

static json_t *pack_request(const struct daemon_api_request *request)
{
	const struct profile_filter *filter = request->filter;
	json_t *parameters = json_pack("{s:I, s:I}", "first", (json_int_t)request->first, "last",
				       (json_int_t)request->last);

	if (!filter)
		return parameters;
	if (filter->pid)
		set_numbers(parameters, "pid", "pids", filter->pid);
	if (filter->uid)
		set_numbers(parameters, "uid", "uids", filter->uid);
	if (filter->comm)
		json_object_set_new(parameters, "comm", json_string(filter->comm));
	if (filter->exclude_comm)
		json_object_set_new(parameters, "exclude_comm", json_string(filter->exclude_comm));
	if (filter->unit)
		json_object_set_new(parameters, "unit", json_string(filter->unit));
	if (filter->container)
		json_object_set_new(parameters, "container", json_string(filter->container));
	return parameters;
}

/* A daemon of an earlier version always sends all tables. */
static int call_get_profile(struct connection *connection, const struct daemon_api_request *request,
			    struct answer *answer, struct fault *fault)
{
	json_t *parameters = pack_request(request);
	char tables[PROFILE_TABLES_TEXT_MAX];
	int r;

	if (request->tables == 0)
		return connection_call(connection, "io.branchd.GetProfile", parameters, answer,
				       fault);
	profile_tables_format(tables, request->tables);
	json_object_set_new(parameters, "tables", json_string(tables));
	r = connection_call(connection, "io.branchd.GetProfile", parameters, answer, fault);
	if (r != -EREMOTEIO || !reply_error_is_refused(answer))
		return r;
	return connection_call(connection, "io.branchd.GetProfile", pack_request(request), answer,
			       fault);
}

/* Without the text and what finalizing takes in memory at once. */
static int read_profile(struct connection *connection, const char *text, size_t n_bytes,
			struct profile **ret, struct fault *why)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	int r = profile_json_parse(&profile, text, n_bytes, why);

	connection_drop_answer(connection);
	r = r < 0 ? r : profile_finalize(profile);
	if (r >= 0)
		*ret = TAKE_PTR(profile);
	return r;
}

int daemon_api_get_profile(struct connection *connection, const struct daemon_api_request *request,
			   struct profile **ret, struct windows *ret_windows, struct fault *fault)
{
	const struct json_member *profile;
	struct members members;
	struct answer answer;
	struct fault why = {};
	int r;

	r = call_get_profile(connection, request, &answer, fault);
	if (r < 0)
		return reply_error_explain(&answer, r, fault);
	r = find_members(&answer, &members, fault);
	if (r < 0)
		return r;
	profile = &members.of[PROFILE];
	if (!profile->text)
		return reply_error_unreadable(fault, "no profile");
	r = take_windows(&members, ret_windows, fault);
	if (r < 0)
		return r;
	r = read_profile(connection, profile->text, profile->n_bytes, ret, &why);
	if (r == -ENOMEM)
		return fault_set(fault, r, "out of memory");
	return r < 0 ? reply_error_unreadable(fault, why.text) : 0;
}

static json_t *pack_functions_request(const struct daemon_api_request *request)
{
	static const char *const names[N_FUNCTIONS_BY] = {
		[FUNCTIONS_BY_OBJECT] = "object", [FUNCTIONS_BY_PROCESS] = "process",
		[FUNCTIONS_BY_COMM] = "comm",     [FUNCTIONS_BY_UNIT] = "unit",
		[FUNCTIONS_BY_USER] = "user",     [FUNCTIONS_BY_PROGRAM] = "program",
	};
	json_t *parameters = pack_request(request);

	json_object_set_new(parameters, "parts", json_integer((json_int_t)request->n_parts));
	if (names[request->by]) /* a daemon of an earlier version does not know the others */
		json_object_set_new(parameters, "by", json_string(names[request->by]));
	if (request->limit > 0)
		json_object_set_new(parameters, "limit", json_integer((json_int_t)request->limit));
	if (request->symbol)
		json_object_set_new(parameters, "symbol", json_string(request->symbol));
	if (request->until_us > 0) {
		json_object_set_new(parameters, "since_us",
				    json_integer((json_int_t)request->since_us));
		json_object_set_new(parameters, "until_us",
				    json_integer((json_int_t)request->until_us));
	}
	return parameters;
}

/* The daemon lacks the method, that parameter, or counts of windows from before there were any. */
static bool lacks_functions(const struct answer *answer, const struct daemon_api_request *request)
{
	return strcmp(answer->error, "org.varlink.service.MethodNotFound") == 0 ||
	       reply_error_is(answer, "NotCounted") ||
	       ((request->by != FUNCTIONS_BY_FUNCTION || request->symbol ||
		 request->until_us > 0) &&
		reply_error_is_refused(answer));
}

/* A daemon of an earlier version counts by process what newer ones add up by owner, and sends all.
 */
static int call_get_functions(struct connection *connection,
			      const struct daemon_api_request *request, struct answer *answer,
			      struct fault *fault)
{
	struct daemon_api_request earlier = *request;
	int r = connection_call(connection, "io.branchd.GetFunctions",
				pack_functions_request(request), answer, fault);

	if (request->by > FUNCTIONS_BY_PROCESS)
		earlier.by = FUNCTIONS_BY_PROCESS;
	earlier.limit = 0;
	if (r != -EREMOTEIO || !reply_error_is_refused(answer) ||
	    (earlier.by == request->by && request->limit == 0))
		return r;
	return connection_call(connection, "io.branchd.GetFunctions",
			       pack_functions_request(&earlier), answer, fault);
}

/* They must exist but for the number of those left out: older daemons leave nothing out. */
static int take_functions(const struct members *members, enum functions_by by,
			  struct functions **ret, struct fault *fault)
{
	const struct json_member *profile = &members->of[PROFILE], *places = &members->of[PLACES];
	const struct json_member *parts = &members->of[PARTS];
	const struct functions_texts texts = {
		.by = by,
		.profile = profile->text,
		.n_profile = profile->n_bytes,
		.places = places->text,
		.n_places = places->n_bytes,
		.parts = parts->text,
		.n_parts = parts->n_bytes,
	};
	const char *left_out = members->of[LEFT_OUT].text;
	struct fault why = {};
	int r;

	if (!profile->text || !places->text || !parts->text)
		return reply_error_unreadable(fault, "no functions");
	r = functions_read(ret, &texts, &why);
	if (r == -ENOMEM)
		return fault_set(fault, r, "out of memory");
	if (r < 0)
		return reply_error_unreadable(fault, why.text);
	(*ret)->n_left_out = left_out ? strtoull(left_out, NULL, 10) : 0;
	return 0;
}

int daemon_api_get_functions(struct connection *connection,
			     const struct daemon_api_request *request, struct functions **ret,
			     struct windows *ret_windows, struct fault *fault)
{
	struct members members;
	struct answer answer;
	int r;

	r = call_get_functions(connection, request, &answer, fault);
	if (r == -EREMOTEIO && lacks_functions(&answer, request))
		return -EOPNOTSUPP;
	if (r < 0)
		return reply_error_explain(&answer, r, fault);
	r = find_members(&answer, &members, fault);
	if (r >= 0)
		r = take_windows(&members, ret_windows, fault);
	return r < 0 ? r : take_functions(&members, request->by, ret, fault);
}
