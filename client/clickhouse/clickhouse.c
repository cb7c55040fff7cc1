/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/clickhouse/clickhouse.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/printable.h"

#define LIBRARY "libcurl.so.4"

/* Loaded where it is wanted: it and what it needs take longer to load than most commands take. */
static struct library {
	CURL *(*init)(void);
	void (*cleanup)(CURL *curl);
	CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
	CURLcode (*perform)(CURL *curl);
	const char *(*strerror)(CURLcode code);
	char *(*escape)(CURL *curl, const char *text, int n);
	void (*free)(void *text);
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_list)(struct curl_slist *list);
} library;

struct clickhouse {
	CURL *curl;
	struct curl_slist *headers;
	struct curl_slist gzip_header; /* before the others; never freed */
	char *url;
	char *answer; /* ends with a NUL */
	size_t n_answer, cap_answer, max_answer;
	bool is_cut, has_answers;
};

static int load_library(struct fault *fault)
{
	const struct {
		const char *name;
		void *function; /* a pointer to it */
	} functions[] = {
		{ "curl_easy_init", &library.init },
		{ "curl_easy_cleanup", &library.cleanup },
		{ "curl_easy_setopt", &library.setopt },
		{ "curl_easy_getinfo", &library.getinfo },
		{ "curl_easy_perform", &library.perform },
		{ "curl_easy_strerror", &library.strerror },
		{ "curl_easy_escape", &library.escape },
		{ "curl_free", &library.free },
		{ "curl_slist_append", &library.append },
		{ "curl_slist_free_all", &library.free_list },
	};
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	bool found = handle != NULL;

	for (size_t i = 0; found && i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		memcpy(functions[i].function, &function, sizeof(function));
		found = function != NULL;
	}
	if (handle)
		dlclose(handle); /* it stays */
	return found ? 0 :
		       fault_set(fault, -ENOENT,
				 LIBRARY " cannot be loaded: install libcurl4, which asks "
					 "servers over HTTP");
}

/* A smaller number than it was given ends the transfer. */
static size_t on_answer(char *bytes, size_t size, size_t n, void *userdata)
{
	struct clickhouse *c = userdata;
	size_t kept = MIN(size * n, c->max_answer - c->n_answer);

	if (ARRAY_RESERVE(&c->answer, &c->cap_answer, c->n_answer + kept + 1) < 0)
		return 0;
	memcpy(c->answer + c->n_answer, bytes, kept);
	c->n_answer += kept;
	c->answer[c->n_answer] = '\0';
	c->is_cut = kept < size * n;
	return kept;
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
	more = library.append(c->headers, text);
	if (!more)
		return -ENOMEM;
	c->headers = more;
	return 0;
}

static char gzip_header[] = "Content-Encoding: gzip";

static int set_up(struct clickhouse *c, const struct clickhouse_settings *settings)
{
	int r = settings->basic ? 0 : add_header(c, "X-ClickHouse-User", settings->user);

	if (r >= 0 && !settings->basic)
		r = add_header(c, "X-ClickHouse-Key", settings->password);
	/* no question whether to go on: it costs a second with servers that do not answer it */
	r = r < 0 ? r : add_header(c, "Expect", "");
	r = r < 0 ? r : add_header(c, "Content-Type", settings->content_type);
	c->has_answers = settings->content_type != NULL;
	c->url = strdup(settings->url);
	c->max_answer = settings->max_answer;
	c->curl = library.init();
	if (r < 0 || !c->url || !c->curl || ARRAY_RESERVE(&c->answer, &c->cap_answer, 1) < 0)
		return -ENOMEM;
	library.setopt(c->curl, CURLOPT_NETRC,
		       (long)(settings->netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
	c->gzip_header = (struct curl_slist){ gzip_header, c->headers };
	if (settings->basic) {
		library.setopt(c->curl, CURLOPT_USERNAME, settings->user);
		library.setopt(c->curl, CURLOPT_PASSWORD, settings->password);
	}
	library.setopt(c->curl, CURLOPT_WRITEFUNCTION, on_answer);
	library.setopt(c->curl, CURLOPT_WRITEDATA, c);
	library.setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	library.setopt(c->curl, CURLOPT_TIMEOUT, settings->timeout_s);
	library.setopt(c->curl, CURLOPT_CONNECTTIMEOUT, 10L);
	library.setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	library.setopt(c->curl, CURLOPT_PROXY, "");
	if (settings->ca_file) { /* and no other one */
		library.setopt(c->curl, CURLOPT_CAINFO, settings->ca_file);
		library.setopt(c->curl, CURLOPT_CAPATH, NULL);
	}
	return 0;
}

int clickhouse_new(struct clickhouse **ret, const struct clickhouse_settings *settings,
		   struct fault *fault)
{
	_cleanup_(clickhouse_freep) struct clickhouse *c = calloc(1, sizeof(*c));
	int r = load_library(fault);

	if (r < 0)
		return r;
	r = c ? set_up(c, settings) : -ENOMEM;
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
		library.cleanup(c->curl);
	if (c->headers)
		library.free_list(c->headers);
	free(c->url);
	free(c->answer);
	free(c);
	return NULL;
}

/* Adds what is not NULL, escaped, and "?" or "&" before it. */
static int put_parameter(struct clickhouse *c, FILE *f, const char **separator, const char *name,
			 const char *value)
{
	char *text = value ? library.escape(c->curl, value, 0) : NULL;

	if (!text)
		return value ? -ENOMEM : 0;
	fprintf(f, "%s%s=%s", *separator, name, text);
	*separator = "&";
	library.free(text);
	return 0;
}

/* The text is in the URL if there is a body. No parameter is empty: servers refuse that. */
static char *format_url(struct clickhouse *c, const struct clickhouse_query *query)
{
	const char *separator = "?";
	char *url = NULL;
	size_t n;
	FILE *f = open_memstream(&url, &n);
	int r;

	if (!f)
		return NULL;
	fputs(c->url, f);
	if (query->settings) {
		fprintf(f, "?%s", query->settings);
		separator = "&";
	}
	r = put_parameter(c, f, &separator, "query_id", query->id);
	r = r < 0 ? r : put_parameter(c, f, &separator, "query", query->body ? query->text : NULL);
	if (fclose(f) == 0 && r >= 0)
		return url;
	free(url);
	return NULL;
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

int clickhouse_ask(struct clickhouse *c, const struct clickhouse_query *query, char **ret_text,
		   struct fault *fault)
{
	_cleanup_free_ char *url = format_url(c, query);
	const char *body = query->body ?: query->text;
	CURLcode code;
	long status = 0;

	if (!url)
		return fault_set(fault, -ENOMEM, "out of memory");
	c->n_answer = 0;
	c->answer[0] = '\0';
	c->is_cut = false;
	library.setopt(c->curl, CURLOPT_URL, url);
	/* libcurl itself sends again what got no answer on a connection that was used before */
	library.setopt(c->curl, CURLOPT_FRESH_CONNECT, (long)(query->body != NULL));
	library.setopt(c->curl, CURLOPT_HTTPHEADER, query->is_gzip ? &c->gzip_header : c->headers);
	library.setopt(c->curl, CURLOPT_POSTFIELDS, body);
	library.setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
		       (curl_off_t)(query->body ? query->n_body : strlen(body)));
	code = library.perform(c->curl);
	if (code != CURLE_OK && !c->is_cut)
		return fault_set(fault, -ECONNREFUSED, "%s: %s", c->url, library.strerror(code));
	library.getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	/* an insert has no answer: an error may come after the head, or from another program */
	if (status != 200 || (query->body && c->n_answer > 0 && !c->has_answers))
		return refuse(c, status, fault);
	if (c->is_cut)
		return fault_set(fault, -EMSGSIZE, "%s: the answer has more than %zu bytes", c->url,
				 c->max_answer);
	if (ret_text)
		*ret_text = c->answer;
	return 0;
}
