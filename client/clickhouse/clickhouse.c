/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/clickhouse/clickhouse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/http/http.h"
#include "common/util/cleanup.h"

struct clickhouse {
	struct http *http;
};

int clickhouse_new(struct clickhouse **ret, const struct clickhouse_settings *settings,
		   struct fault *fault)
{
	_cleanup_(clickhouse_freep) struct clickhouse *clickhouse = calloc(1, sizeof(*clickhouse));
	const struct http_header headers[] = {
		{ "X-ClickHouse-User", settings->user },
		{ "X-ClickHouse-Key", settings->password },
	};
	const struct http_settings server = {
		.url = settings->url,
		.headers = headers,
		.n_headers = ARRAY_SIZE(headers),
		.ca_file = settings->ca_file,
		.netrc = settings->netrc,
		.timeout_s = settings->timeout_s,
		.max_answer = settings->max_answer,
	};
	int r;

	if (!clickhouse)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = http_new(&clickhouse->http, &server, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(clickhouse);
	return 0;
}

struct clickhouse *clickhouse_free(struct clickhouse *clickhouse)
{
	if (!clickhouse)
		return NULL;
	http_free(clickhouse->http);
	free(clickhouse);
	return NULL;
}

void clickhouse_put_string(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static void put_parameter(FILE *f, const char **separator, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(f, "%s%s=", *separator, name);
	http_put_escaped(f, value);
	*separator = "&";
}

/* The text is among them if there is a body. None is empty: servers refuse that. */
static char *format_parameters(const struct clickhouse_query *query)
{
	const char *separator = "";
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	if (query->settings) {
		fputs(query->settings, f);
		separator = "&";
	}
	put_parameter(f, &separator, "query_id", query->id);
	put_parameter(f, &separator, "query", query->body ? query->text : NULL);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

int clickhouse_ask(struct clickhouse *clickhouse, const struct clickhouse_query *query,
		   char **ret_text, struct fault *fault)
{
	_cleanup_free_ char *parameters = format_parameters(query);
	const struct http_request request = {
		.parameters = parameters,
		.body = query->body ?: query->text,
		.n_body = query->body ? query->n_body : strlen(query->text),
		.is_gzip = query->is_gzip,
		.once = query->body,
		/* an error may come after the head, or the answer from another program */
		.silent = query->body,
	};

	if (!parameters)
		return fault_set(fault, -ENOMEM, "out of memory");
	return http_post(clickhouse->http, &request, ret_text, fault);
}
