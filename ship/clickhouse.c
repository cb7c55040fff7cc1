/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/clickhouse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "common/util/cleanup.h"
#include "common/util/printable.h"

#define MAX_ANSWER 4096 /* bytes that are kept */

struct clickhouse {
	CURL *curl;
	struct curl_slist *headers;
	char *url;
	char answer[MAX_ANSWER + 1];
	size_t n_answer;
};

static size_t on_answer(char *bytes, size_t size, size_t n, void *userdata)
{
	struct clickhouse *c = userdata;
	size_t kept = MIN(size * n, MAX_ANSWER - c->n_answer);

	memcpy(c->answer + c->n_answer, bytes, kept);
	c->n_answer += kept;
	c->answer[c->n_answer] = '\0';
	return size * n;
}

static int add_header(struct clickhouse *c, const char *name, const char *value)
{
	_cleanup_free_ char *text = NULL;
	struct curl_slist *more;

	if (!value)
		return 0;
	if (asprintf(&text, "%s: %s", name, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	more = curl_slist_append(c->headers, text);
	if (!more)
		return -ENOMEM;
	c->headers = more;
	return 0;
}

static int set_up(struct clickhouse *c, const struct clickhouse_settings *settings)
{
	int r = add_header(c, "X-ClickHouse-User", settings->user);

	r = r < 0 ? r : add_header(c, "X-ClickHouse-Key", settings->password);
	/* no question whether to go on: it costs a second with servers that do not answer it */
	r = r < 0 ? r : add_header(c, "Expect", "");
	c->url = strdup(settings->url);
	c->curl = curl_easy_init();
	if (r < 0 || !c->url || !c->curl)
		return -ENOMEM;
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, settings->timeout_s);
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, 10L);
	curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
	if (settings->ca_file) { /* and no other one */
		curl_easy_setopt(c->curl, CURLOPT_CAINFO, settings->ca_file);
		curl_easy_setopt(c->curl, CURLOPT_CAPATH, NULL);
	}
	return 0;
}

int clickhouse_new(struct clickhouse **ret, const struct clickhouse_settings *settings,
		   struct fault *fault)
{
	_cleanup_(clickhouse_freep) struct clickhouse *c = calloc(1, sizeof(*c));
	int r = c ? set_up(c, settings) : -ENOMEM;

	if (r < 0)
		return fault_set(fault, r, "out of memory");
	*ret = TAKE_PTR(c);
	return 0;
}

struct clickhouse *clickhouse_free(struct clickhouse *c)
{
	if (!c)
		return NULL;
	if (c->curl)
		curl_easy_cleanup(c->curl);
	curl_slist_free_all(c->headers);
	free(c->url);
	free(c);
	return NULL;
}

/* The text is in the URL if there is a body. */
static char *format_url(struct clickhouse *c, const struct clickhouse_query *query)
{
	char *text = curl_easy_escape(c->curl, query->body ? query->text : "", 0);
	char *id = curl_easy_escape(c->curl, query->id ?: "", 0);
	char *url = NULL;

	if (text && id &&
	    asprintf(&url, "%s?%s%s%s%s", c->url, query->id ? "query_id=" : "", id,
		     query->body ? "&query=" : "", text) < 0)
		url = NULL;
	curl_free(text);
	curl_free(id);
	return url;
}

/* The first line of the answer; once more, as a character may have been cut. */
static int refuse(struct clickhouse *c, long status, struct fault *fault)
{
	c->answer[strcspn(c->answer, "\n")] = '\0';
	printable_make(c->answer);
	fault_set(fault, 0, "%s: the server answered %ld: %.300s", c->url, status, c->answer);
	printable_make(fault->text);
	return -EREMOTEIO;
}

int clickhouse_ask(struct clickhouse *c, const struct clickhouse_query *query,
		   const char **ret_text, struct fault *fault)
{
	_cleanup_free_ char *url = format_url(c, query);
	const char *body = query->body ?: query->text;
	CURLcode code;
	long status = 0;

	if (!url)
		return fault_set(fault, -ENOMEM, "out of memory");
	c->n_answer = 0;
	c->answer[0] = '\0';
	curl_easy_setopt(c->curl, CURLOPT_URL, url);
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)(query->body ? query->n_body : strlen(body)));
	code = curl_easy_perform(c->curl);
	if (code != CURLE_OK)
		return fault_set(fault, -ECONNREFUSED, "%s: %s", c->url, curl_easy_strerror(code));
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	/* an insert has no answer: an error may come after the head, or from another program */
	if (status != 200 || (query->body && c->n_answer > 0))
		return refuse(c, status, fault);
	if (ret_text)
		*ret_text = c->answer;
	return 0;
}
