/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/upkeep-api.h"

#include <errno.h>
#include <string.h>

#include "client/rpc/reply-error.h"

static int explain(const struct answer *answer, int r, struct fault *fault)
{
	if (r == -EREMOTEIO && strcmp(answer->error, "org.varlink.service.MethodNotFound") == 0)
		return fault_set(fault, -EOPNOTSUPP,
				 "the daemon that runs cannot do that yet: restart branchd");
	if (reply_error_is(answer, "Busy"))
		return fault_set(fault, -EBUSY,
				 "the daemon does so for somebody else just now: try again later");
	if (reply_error_is_denied(answer))
		return fault_set(fault, -EACCES,
				 "only root and the group branchd look after the database of all");
	return reply_error_explain(answer, r, fault);
}

/* *@ret is the reply: an object. */
static int call(struct connection *connection, const char *method, json_t *parameters, json_t **ret,
		struct fault *fault)
{
	struct answer answer = {};
	json_error_t error;
	int r;

	connection_set_timeout(connection, -1);
	r = connection_call(connection, method, parameters, &answer, fault);
	if (r < 0)
		return explain(&answer, r, fault);
	*ret = json_loadb(answer.text, answer.n_bytes, 0, &error);
	return *ret ? 0 : reply_error_unreadable(fault, error.text);
}

int upkeep_api_vacuum(struct connection *connection, uint64_t max_bytes, uint64_t keep_us,
		      struct upkeep_vacuumed *ret, struct fault *fault)
{
	json_t *parameters = json_object(), *json;
	json_int_t windows, freed, bytes;
	int r;

	if (max_bytes > 0)
		json_object_set_new(parameters, "max_bytes", json_integer((json_int_t)max_bytes));
	if (keep_us > 0)
		json_object_set_new(parameters, "keep_us", json_integer((json_int_t)keep_us));
	r = call(connection, "io.branchd.Vacuum", parameters, &json, fault);
	if (r < 0)
		return r;
	r = json_unpack(json, "{s:I, s:I, s:I}", "windows", &windows, "freed_bytes", &freed,
			"bytes", &bytes);
	json_decref(json);
	if (r < 0 || windows < 0 || freed < 0 || bytes < 0)
		return reply_error_unreadable(fault, "invalid counts");
	*ret = (struct upkeep_vacuumed){ (uint64_t)windows, (uint64_t)freed, (uint64_t)bytes };
	return 0;
}

static bool is_valid(const json_t *json)
{
	const json_t *problems = json_object_get(json, "problems"), *each;
	size_t i;

	json_array_foreach(problems, i, each)
		if (!json_is_string(json_object_get(each, "where")) ||
		    !json_is_string(json_object_get(each, "what")))
			return false;
	return json_is_array(problems) && json_is_integer(json_object_get(json, "windows")) &&
	       json_is_integer(json_object_get(json, "bytes")) &&
	       json_is_integer(json_object_get(json, "found")) &&
	       json_is_boolean(json_object_get(json, "whole"));
}

int upkeep_api_verify(struct connection *connection, json_t **ret, struct fault *fault)
{
	json_t *json;
	int r = call(connection, "io.branchd.Verify", json_object(), &json, fault);

	if (r < 0)
		return r;
	if (!is_valid(json)) {
		json_decref(json);
		return reply_error_unreadable(fault, "an invalid report");
	}
	*ret = json;
	return 0;
}
