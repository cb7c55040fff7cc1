/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One server, asked by POST over HTTP or HTTPS. Certificates are checked. It loads libcurl when it
 * is wanted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct http;

struct http_header {
	const char *name, *value; /* value NULL: it is left out */
};

struct http_settings {
	const char *url;                   /* http:// or https:// */
	const struct http_header *headers; /* of each request */
	size_t n_headers;
	const char *user, *password; /* HTTP's own; NULL: none */
	const char *ca_file;         /* NULL: those of the system */
	bool netrc;        /* user and password are those of ~/.netrc, if it has the host */
	long timeout_s;    /* of each request */
	size_t max_answer; /* bytes */
};

struct http_request {
	const char *parameters; /* behind the URL, escaped; NULL or empty: none */
	const void *body;
	size_t n_body;
	bool is_gzip; /* the body */
	bool once;    /* it is not sent again by itself, as it changes what the server has */
	bool silent;  /* an answer says what is wrong, whatever its status */
};

/* Copies the settings. -errno and @fault. */
int http_new(struct http **ret, const struct http_settings *settings, struct fault *fault);
struct http *http_free(struct http *http);
DEFINE_CLEANUP(struct http *, http_free);

/* Writes a name or a value of a parameter, escaped. */
void http_put_escaped(FILE *f, const char *text);

/*
 * *@ret_text, unless NULL, is the answer with a NUL behind it, valid until the next request, and
 * the caller's to write into. -ECONNREFUSED and @fault: there was no answer, and the server may
 * have done it or not. -EREMOTEIO and @fault: it refused. -EMSGSIZE and @fault: the answer has more
 * than max_answer bytes.
 */
int http_post(struct http *http, const struct http_request *request, char **ret_text,
	      struct fault *fault);
