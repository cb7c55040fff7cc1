/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter of the live view as one types it: "comm=nginx symbol=\"operator new\" parse". What has
 * a name is a filter as the options are; the other words are sought in the names of the rows.
 */
#pragma once

#include "common/profile/filter.h"
#include "common/util/fault.h"

#define LIVE_FILTER_MAX 256

struct live_filter {
	struct profile_filter profile; /* its strings are in @values: it may not be moved */
	char words[LIVE_FILTER_MAX];   /* those without a name, "" if there are none */
	char values[LIVE_FILTER_MAX];
};

/* -EINVAL and @fault, upon which it asks for nothing. */
int live_filter_parse(struct live_filter *ret, const char *text, struct fault *fault);

/* What one would have typed for @filter; of one too long as much as fits. */
void live_filter_format(char ret[LIVE_FILTER_MAX], const struct profile_filter *filter);
