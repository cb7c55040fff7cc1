/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter of the live view as text: "comm=nginx symbol=\"operator new\" parse". NAME=VALUE
 * filters as the option NAME does; other words select rows by name.
 */
#pragma once

#include "common/profile/filter.h"
#include "common/util/fault.h"

#define LIVE_FILTER_MAX 256

struct live_filter {
	struct profile_filter profile; /* its strings are in @values: do not copy */
	char words[LIVE_FILTER_MAX];   /* the other words */
	char values[LIVE_FILTER_MAX];
};

/* -EINVAL and @fault; the filter is empty then. */
int live_filter_parse(struct live_filter *ret, const char *text, struct fault *fault);

/* The text for @filter, truncated to its size. */
void live_filter_format(char ret[LIVE_FILTER_MAX], const struct profile_filter *filter);
