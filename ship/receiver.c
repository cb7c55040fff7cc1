/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/receiver.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "ship/insert.h"
#include "ship/post.h"

#define TIMEOUT_S  60
#define MAX_ANSWER 4096 /* an insert has none but errors */

/* One of both. */
struct receiver {
	struct http *http;
	const char *host;
	struct insert insert;
};

static int open_http(struct receiver *receiver, const struct receiver_settings *settings,
		     struct fault *fault)
{
	const struct http_header type = { "Content-Type", "application/x-protobuf" };
	const struct http_settings server = {
		.url = settings->url,
		.headers = &type,
		.n_headers = settings->format == FORMAT_OTLP,
		.user = settings->user,
		.password = settings->password,
		.ca_file = settings->ca_file,
		.timeout_s = TIMEOUT_S,
		.max_answer = MAX_ANSWER,
	};

	return http_new(&receiver->http, &server, fault);
}

static int open_clickhouse(struct receiver *receiver, const struct receiver_settings *settings,
			   struct fault *fault)
{
	const struct clickhouse_settings server = {
		.url = settings->url,
		.user = settings->user,
		.password = settings->password,
		.ca_file = settings->ca_file,
		.timeout_s = TIMEOUT_S,
		.max_answer = MAX_ANSWER,
	};

	return clickhouse_new(&receiver->insert.clickhouse, &server, fault);
}

int receiver_new(struct receiver **ret, const struct receiver_settings *settings,
		 struct fault *fault)
{
	_cleanup_(receiver_freep) struct receiver *receiver = calloc(1, sizeof(*receiver));
	int r;

	if (!receiver)
		return fault_set(fault, -ENOMEM, "out of memory");
	receiver->host = receiver->insert.host = settings->host;
	receiver->insert.database = settings->database;
	r = format_is_profile(settings->format) ? open_http(receiver, settings, fault) :
						  open_clickhouse(receiver, settings, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(receiver);
	return 0;
}

struct receiver *receiver_free(struct receiver *receiver)
{
	if (!receiver)
		return NULL;
	http_free(receiver->http);
	clickhouse_free(receiver->insert.clickhouse);
	free(receiver);
	return NULL;
}

/* A batch that was made with another Format= is in the spool, and this server has no use for it. */
static bool fits(const struct receiver *receiver, enum batch_table table)
{
	return (receiver->http != NULL) == (table == BATCH_PPROF || table == BATCH_OTLP);
}

int receiver_send(struct receiver *receiver, const struct receiver_part *part,
		  uint64_t *ret_rejected, struct fault *fault)
{
	*ret_rejected = 0;
	if (!fits(receiver, part->table))
		return fault_set(fault, -EINVAL, "batches of another Format= are in the spool");
	switch (part->table) {
	case BATCH_PPROF:
		return post_pprof(receiver->http, receiver->host, part->batch, fault);
	case BATCH_OTLP:
		return post_otlp(receiver->http, part->batch, ret_rejected, fault);
	default:
		return insert_table(&receiver->insert, part->batch, part->table, part->unsure,
				    fault);
	}
}
