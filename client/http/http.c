/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/http/http.h"

#include <ctype.h>
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
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_list)(struct curl_slist *list);
} library;

struct http {
	CURL *curl;
	struct curl_slist *headers;
	struct curl_slist gzip_header; /* before the others; never freed */
	char *url;
	char *answer; /* ends with a NUL */
	size_t n_answer, cap_answer, max_answer;
	bool is_cut;
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
	struct http *http = userdata;
	size_t kept = MIN(size * n, http->max_answer - http->n_answer);

	if (ARRAY_RESERVE(&http->answer, &http->cap_answer, http->n_answer + kept + 1) < 0)
		return 0;
	memcpy(http->answer + http->n_answer, bytes, kept);
	http->n_answer += kept;
	http->answer[http->n_answer] = '\0';
	http->is_cut = kept < size * n;
	return kept;
}

static int add_header(struct http *http, const char *name, const char *value)
{
	_cleanup_free_ char *text = NULL;
	struct curl_slist *more;

	if (!value)
		return 0;
	if (asprintf(&text, "%s: %s", name, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	more = library.append(http->headers, text);
	if (!more)
		return -ENOMEM;
	http->headers = more;
	return 0;
}

static char gzip_header[] = "Content-Encoding: gzip";

static int add_headers(struct http *http, const struct http_settings *settings)
{
	/* no question whether to go on: it costs a second with servers that do not answer it */
	int r = add_header(http, "Expect", "");

	for (size_t i = 0; r >= 0 && i < settings->n_headers; i++)
		r = add_header(http, settings->headers[i].name, settings->headers[i].value);
	http->gzip_header = (struct curl_slist){ gzip_header, http->headers };
	return r;
}

static int set_up(struct http *http, const struct http_settings *settings)
{
	int r = add_headers(http, settings);

	http->url = strdup(settings->url);
	http->max_answer = settings->max_answer;
	http->curl = library.init();
	if (r < 0 || !http->url || !http->curl ||
	    ARRAY_RESERVE(&http->answer, &http->cap_answer, 1) < 0)
		return -ENOMEM;
	library.setopt(http->curl, CURLOPT_NETRC,
		       (long)(settings->netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
	library.setopt(http->curl, CURLOPT_USERNAME, settings->user);
	library.setopt(http->curl, CURLOPT_PASSWORD, settings->password);
	library.setopt(http->curl, CURLOPT_WRITEFUNCTION, on_answer);
	library.setopt(http->curl, CURLOPT_WRITEDATA, http);
	library.setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
	library.setopt(http->curl, CURLOPT_TIMEOUT, settings->timeout_s);
	library.setopt(http->curl, CURLOPT_CONNECTTIMEOUT, 10L);
	library.setopt(http->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	library.setopt(http->curl, CURLOPT_PROXY, "");
	if (settings->ca_file) { /* and no other one */
		library.setopt(http->curl, CURLOPT_CAINFO, settings->ca_file);
		library.setopt(http->curl, CURLOPT_CAPATH, NULL);
	}
	return 0;
}

int http_new(struct http **ret, const struct http_settings *settings, struct fault *fault)
{
	_cleanup_(http_freep) struct http *http = calloc(1, sizeof(*http));
	int r = load_library(fault);

	if (r < 0)
		return r;
	r = http ? set_up(http, settings) : -ENOMEM;
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	*ret = TAKE_PTR(http);
	return 0;
}

struct http *http_free(struct http *http)
{
	if (!http)
		return NULL;
	if (http->curl)
		library.cleanup(http->curl);
	if (http->headers)
		library.free_list(http->headers);
	free(http->url);
	free(http->answer);
	free(http);
	return NULL;
}

void http_put_escaped(FILE *f, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if ((*c < 0x80 && isalnum(*c)) || strchr("-._~", *c))
			fputc(*c, f);
		else
			fprintf(f, "%%%02X", *c);
}

/* The first line of the answer; once more, as a character may have been cut. */
static int refuse(struct http *http, long status, struct fault *fault)
{
	http->answer[strcspn(http->answer, "\n")] = '\0';
	printable_make(http->answer);
	fault_set(fault, 0, "%s: the server answered %ld: %.300s", http->url, status, http->answer);
	printable_make(fault->text);
	return -EREMOTEIO;
}

static int set_request(struct http *http, const struct http_request *request)
{
	const char *parameters = request->parameters;
	_cleanup_free_ char *url = NULL;

	if (asprintf(&url, "%s%s%s", http->url, parameters && *parameters ? "?" : "",
		     parameters ?: "") < 0) {
		url = NULL;
		return -ENOMEM;
	}
	http->n_answer = 0;
	http->answer[0] = '\0';
	http->is_cut = false;
	library.setopt(http->curl, CURLOPT_URL, url);
	/* libcurl itself sends again what got no answer on a connection that was used before */
	library.setopt(http->curl, CURLOPT_FRESH_CONNECT, (long)request->once);
	library.setopt(http->curl, CURLOPT_HTTPHEADER,
		       request->is_gzip ? &http->gzip_header : http->headers);
	library.setopt(http->curl, CURLOPT_POSTFIELDS, request->body);
	library.setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_body);
	return 0;
}

int http_post(struct http *http, const struct http_request *request, char **ret_text,
	      struct fault *fault)
{
	CURLcode code;
	long status = 0;

	if (set_request(http, request) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	code = library.perform(http->curl);
	if (code != CURLE_OK && !http->is_cut)
		return fault_set(fault, -ECONNREFUSED, "%s: %s", http->url, library.strerror(code));
	library.getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200 || (request->silent && http->n_answer > 0))
		return refuse(http, status, fault);
	if (http->is_cut)
		return fault_set(fault, -EMSGSIZE, "%s: the answer has more than %zu bytes",
				 http->url, http->max_answer);
	if (ret_text)
		*ret_text = http->answer;
	return 0;
}
