/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as JSON, and back; what goes wrong fails the test. The caller frees both. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "common/json/profile-json.h"

static char *written(const struct profile *p)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	assert_int_equal(profile_json_write(p, f), 0);
	fclose(f);
	return text;
}

static struct profile *read_back(const char *text)
{
	struct fault fault = { 0 };
	struct profile *p = NULL;

	if (profile_json_read(&p, text, strlen(text), &fault) < 0)
		fail_msg("%s", fault.text);
	return p;
}
