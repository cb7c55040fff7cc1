/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/branch-filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include "common/util/macro.h"

static const struct {
	const char *name;
	uint64_t bit;
} names[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
};

static uint64_t find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == n && memcmp(names[i].name, name, n) == 0)
			return names[i].bit;
	return 0;
}

int branch_filter_parse(const char *text, uint64_t *ret)
{
	uint64_t filter = 0, bit;

	for (;; text++) {
		size_t n = strcspn(text, ",");

		bit = find(text, n);
		if (bit == 0)
			return -EINVAL;
		filter |= bit;
		text += n;
		if (*text == '\0')
			break;
	}
	if (!(filter & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		filter |= PERF_SAMPLE_BRANCH_ANY;
	*ret = filter;
	return 0;
}

const char *branch_filter_format(uint64_t filter, char *ret)
{
	size_t n = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (filter & names[i].bit)
			n += (size_t)snprintf(ret + n, BRANCH_FILTER_TEXT_MAX - n, "%s%s",
					      n > 0 ? "," : "", names[i].name);
	return ret;
}
