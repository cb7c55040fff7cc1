/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two parts of profile_json_read() share this header; no other file includes it. */
#pragma once

#include "common/json/json-scanner.h"
#include "common/profile/profile.h"

struct profile_json_reader {
	struct json_scanner s;
	struct profile *p;
	json_t *object;   /* being read */
	size_t n_taken;   /* members of it read so far */
	size_t n_columns; /* of the table being read; 0: neither columns nor a row have said it */
	uint64_t version;
};

static inline int fail(struct profile_json_reader *r, const char *member, const char *what)
{
	return json_scanner_fail(&r->s, member, what);
}

/* Returns the error of @call from the calling function. */
#define TRY(call)                       \
	do {                            \
		int64_t _r = (call);    \
		if (_r < 0)             \
			return (int)_r; \
	} while (0)

/* Each reads the value of one member of the top level. */
int profile_json_read_info(struct profile_json_reader *r);
int profile_json_read_counters(struct profile_json_reader *r);
int profile_json_read_processes(struct profile_json_reader *r);
int profile_json_read_objects(struct profile_json_reader *r);
int profile_json_read_functions(struct profile_json_reader *r);
