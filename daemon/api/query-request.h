/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of GetProfile and GetFunctions, validated. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/filter.h"
#include "common/profile/tables.h"
#include "daemon/rows/function-sum.h"
#include "daemon/varlink/call.h"

#define QUERY_MAX_PARTS 200
#define QUERY_N_TEXTS   7

struct query_request {
	int64_t first, last;          /* ids; 0: the open window */
	int64_t n_parts;              /* of GetFunctions, else 0 */
	enum function_sum_kind by;    /* likewise */
	bool by_program;              /* likewise: of processes, those of a program together */
	const char *symbol;           /* likewise: of the only functions; NULL: all */
	int64_t limit;                /* likewise: of rows; 0: none */
	int64_t since_us, until_us;   /* likewise: the parts are of this time; 0: not given */
	unsigned int tables;          /* of GetProfile, see tables.h */
	struct profile_filter filter; /* its strings are @texts */
	char *texts[QUERY_N_TEXTS];
};

/* 1; 0 if the call was answered, by an error; -errno. In any case query_request_done() is due. */
int query_request_read(struct query_request *request, struct call *call, bool functions);
void query_request_done(struct query_request *request);
