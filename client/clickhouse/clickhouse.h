/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One ClickHouse server, or another one that takes bodies, asked over HTTP. Certificates are
 * checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct clickhouse;

struct clickhouse_settings {
	const char *url;          /* http:// or https:// */
	const char *user;         /* NULL: the server's default */
	const char *password;     /* NULL: none */
	bool basic;               /* they go as HTTP's own, to another server that takes bodies */
	const char *content_type; /* of bodies, which then have an answer; NULL: none */
	const char *ca_file;      /* NULL: those of the system */
	bool netrc;               /* user and password are those of ~/.netrc, if it has the host */
	long timeout_s;           /* of each query */
	size_t max_answer;        /* bytes */
};

struct clickhouse_query {
	const char *text;     /* NULL: only @settings and @body */
	const char *id;       /* no two run at once with one id; NULL: any */
	const char *settings; /* of the server, as "name=value&name=value"; or NULL */
	const char *body;     /* what follows the text */
	size_t n_body;
	bool is_gzip; /* the body */
};

/* Copies the settings. -errno and @fault. */
int clickhouse_new(struct clickhouse **ret, const struct clickhouse_settings *settings,
		   struct fault *fault);
struct clickhouse *clickhouse_free(struct clickhouse *clickhouse);
DEFINE_CLEANUP(struct clickhouse *, clickhouse_free);

/* Writes a quoted string of SQL. */
void clickhouse_put_string(FILE *f, const char *text);

/*
 * *@ret_text, unless NULL, is the answer with a NUL behind it, valid until the next query, and the
 * caller's to write into. -ECONNREFUSED and @fault: there was no answer, and the server may have
 * done it or not. -EREMOTEIO and @fault: it refused. -EMSGSIZE and @fault: the answer has more than
 * max_answer bytes.
 */
int clickhouse_ask(struct clickhouse *clickhouse, const struct clickhouse_query *query,
		   char **ret_text, struct fault *fault);
