/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter of branch records, in perf's words: "any", "any_call,u"; see perf-record(1). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BRANCH_FILTER_TEXT_MAX 64

/* *@ret is PERF_SAMPLE_BRANCH_*: one kind or more, and the levels that @text names. -EINVAL. */
int branch_filter_parse(const char *text, uint64_t *ret);

/* Writes the names of @filter into @ret of BRANCH_FILTER_TEXT_MAX bytes; returns it. */
const char *branch_filter_format(uint64_t filter, char *ret);
