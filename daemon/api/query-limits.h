/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a query may take. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct query_limits {
	size_t max_bytes;      /* of the sum it holds */
	size_t max_user_bytes; /* the same, of an unprivileged caller */
	uint64_t max_cpu_ms;   /* until the reply is complete */
	uint64_t max_user_cpu_ms;
	size_t rows_at_once; /* more of them are worked on in a thread */
};

#define QUERY_MAX_BYTES      (512u << 20)
#define QUERY_MAX_USER_BYTES (64u << 20)
#define QUERY_MAX_CPU_MS     120000
#define QUERY_MAX_USER_MS    20000
#define QUERY_ROWS_AT_ONCE   20000
