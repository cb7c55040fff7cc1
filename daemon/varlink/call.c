/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

#define MAX_ERROR_NAME 256

/* A flag that is there must be a boolean. */
static int read_flag(const json_t *message, const char *name, bool *ret)
{
	const json_t *flag = json_object_get(message, name);

	if (flag && !json_is_boolean(flag) && !json_is_null(flag))
		return -EBADMSG;
	*ret = json_is_true(flag);
	return 0;
}

static int read_message(struct call *call)
{
	json_t *message = call->message, *parameters = json_object_get(message, "parameters");

	call->method = json_string_value(json_object_get(message, "method"));
	if (!call->method)
		return -EBADMSG;
	if (!parameters || json_is_null(parameters)) {
		parameters = json_object();
		if (!parameters || json_object_set_new(message, "parameters", parameters) < 0)
			return -ENOMEM;
	}
	if (!json_is_object(parameters))
		return -EBADMSG;
	call->parameters = parameters;
	return read_flag(message, "more", &call->more)             ?:
		       read_flag(message, "oneway", &call->oneway) ?:
		       read_flag(message, "upgrade", &call->upgrade);
}

int call_parse(struct call **ret, const struct call_context *context, const char *text,
	       size_t n_bytes)
{
	_cleanup_(call_freep) struct call *call = calloc(1, sizeof(*call));
	json_error_t error;
	int r;

	if (!call)
		return -ENOMEM;
	call->context = context;
	call->message = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	if (!call->message)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	if (!json_is_object(call->message))
		return -EBADMSG;
	r = read_message(call);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(call);
	return 0;
}

struct call *call_free(struct call *call)
{
	if (!call)
		return NULL;
	json_decref(call->message);
	free(call);
	return NULL;
}

void call_abandon(struct call *call)
{
	if (call->gone)
		call->gone(call, call->userdata);
	call_free(call);
}

/* Hands the pieces of a reply over to the connection, and ends the call unless it @continues. */
static int send_pieces(struct call *call, struct outbox_piece *pieces, size_t n, bool continues)
{
	const struct call_context *context = call->context;
	int r = 0;

	if (call->oneway) {
		for (size_t i = 0; i < n; i++)
			free(pieces[i].bytes);
	} else {
		r = context->transport->send(context->connection, pieces, n);
	}
	if (r < 0 || continues)
		return r;
	context->transport->end(context->connection);
	return 0;
}

/* Takes @text over; NULL is -ENOMEM. */
static int send_text(struct call *call, char *text, bool continues)
{
	if (!text)
		return -ENOMEM;
	return send_pieces(call, &(struct outbox_piece){ text, strlen(text) + 1 }, 1, continues);
}

int call_reply(struct call *call, json_t *parameters, bool continues)
{
	json_t *reply = parameters ? json_pack("{so}", "parameters", parameters) : NULL;
	char *text;

	if (!reply)
		return -ENOMEM;
	if (continues && json_object_set_new(reply, "continues", json_true()) < 0) {
		json_decref(reply);
		return -ENOMEM;
	}
	text = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	return send_text(call, text, continues);
}

int call_reply_text(struct call *call, char *parameters, size_t n_bytes, bool continues)
{
	const char *after = continues ? ",\"continues\":true}" : "}";
	struct outbox_piece pieces[] = {
		{ strdup("{\"parameters\":"), strlen("{\"parameters\":") },
		{ parameters, n_bytes },
		{ strdup(after), strlen(after) + 1 },
	};

	if (pieces[0].bytes && pieces[1].bytes && pieces[2].bytes)
		return send_pieces(call, pieces, ARRAY_SIZE(pieces), continues);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		free(pieces[i].bytes);
	return -ENOMEM;
}

void call_error(struct call *call, const char *name, json_t *parameters)
{
	const struct call_context *context = call->context;
	json_t *reply = json_pack("{ss so*}", "error", name, "parameters", parameters);
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;

	json_decref(reply);
	context->counts->errors++;
	/* without an answer the caller would wait for ever */
	if (send_text(call, text, false) < 0)
		context->transport->fail(context->connection);
}

void call_invalid_parameter(struct call *call, const char *parameter)
{
	call_error(call, "org.varlink.service.InvalidParameter",
		   json_pack("{ss}", "parameter", parameter));
}

void call_internal_error(struct call *call, int r)
{
	char name[MAX_ERROR_NAME];

	snprintf(name, sizeof(name), "%s.InternalError", call->context->settings->interface);
	call_error(
		call, name,
		json_pack("{ss ss}", "errno", strerrorname_np(-r) ?: "", "message", strerror(-r)));
}

bool call_wants_more(const struct call *call)
{
	return call->more;
}

bool call_is_privileged(const struct call *call)
{
	return call->context->peer.privileged;
}

uid_t call_uid(const struct call *call)
{
	return call->context->peer.uid;
}

void call_on_gone(struct call *call, void (*gone)(struct call *call, void *userdata),
		  void *userdata)
{
	call->gone = gone;
	call->userdata = userdata;
}
