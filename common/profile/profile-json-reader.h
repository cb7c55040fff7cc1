/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two parts of reading a profile's JSON share; nobody else includes this. */
#pragma once

#include "common/profile/json-scanner.h"
#include "common/profile/profile.h"

struct profile_json_reader {
	struct json_scanner s;
	struct profile *p;
	json_t *object; /* the one being read */
	size_t n_taken; /* of its members */
};

static inline int fail(struct profile_json_reader *r, const char *member, const char *what)
{
	return json_scanner_fail(&r->s, member, what);
}

/* For the many steps of the functions below: the first error ends them. */
#define TRY(call)                       \
	do {                            \
		int64_t _r = (call);    \
		if (_r < 0)             \
			return (int)_r; \
	} while (0)

/* Each reads the value of that member of the top level. */
int profile_json_read_info(struct profile_json_reader *r);
int profile_json_read_counters(struct profile_json_reader *r);
int profile_json_read_processes(struct profile_json_reader *r);
int profile_json_read_objects(struct profile_json_reader *r);
int profile_json_read_functions(struct profile_json_reader *r);
