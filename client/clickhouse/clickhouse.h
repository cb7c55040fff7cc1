/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One ClickHouse server, asked over HTTP. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct clickhouse;

struct clickhouse_settings {
	const char *url;      /* http:// or https:// */
	const char *user;     /* NULL: the server's default */
	const char *password; /* NULL: none */
	const char *ca_file;  /* NULL: those of the system */
	bool netrc;           /* user and password are those of ~/.netrc, if it has the host */
	long timeout_s;       /* of each query */
	size_t max_answer;    /* bytes */
};

struct clickhouse_query {
	const char *text;
	const char *id;       /* no two run at once with one id; NULL: any */
	const char *settings; /* of the server, as "name=value&name=value"; or NULL */
	const char *body;     /* what follows the text of an insert; NULL: none */
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

/* The answer, and errors, as http_post() has them; an insert has no answer. */
int clickhouse_ask(struct clickhouse *clickhouse, const struct clickhouse_query *query,
		   char **ret_text, struct fault *fault);
