/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/source/time-span.h"
#include "client/source/time-spec.h"
#include "client/stream/stream-tree.h"
#include "common/profile/branch-kind.h"

int options_wrong(struct fault *fault, const char *option, const char *argument, const char *want)
{
	return fault_set(fault, -EINVAL, "%s '%s': give %s", option, argument, want);
}

int options_parse_number(const char *option, const char *argument, uint64_t max, uint64_t *ret,
			 struct fault *fault)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(argument, &end, 10);
	if (*argument < '0' || *argument > '9' || *end != '\0' || errno != 0 || n > max)
		return options_wrong(fault, option, argument, "a number");
	*ret = n;
	return 0;
}

int options_parse_directory(const char *option, const char *argument, const char **ret,
			    struct fault *fault)
{
	struct stat st;

	if (stat(argument, &st) < 0 || !S_ISDIR(st.st_mode))
		return options_wrong(fault, option, argument, "a directory that exists");
	*ret = argument;
	return 0;
}

int options_parse_percent(const char *option, const char *argument, double *ret,
			  struct fault *fault)
{
	char *end;

	*ret = strtod(argument, &end);
	if (end == argument || *end != '\0' || !(*ret >= 0 && *ret <= 100))
		return options_wrong(fault, option, argument, "a number from 0 to 100");
	return 0;
}

int options_parse_bytes(const char *option, const char *argument, uint64_t *ret,
			struct fault *fault)
{
	static const char units[] = "KMGT";
	char *end;
	double value = strtod(argument, &end);
	const char *unit = *end ? strchr(units, *end) : NULL;

	for (int i = 0; unit && i <= unit - units; i++)
		value *= 1024;
	end += unit != NULL;
	if (*argument < '0' || *argument > '9' || (*end && strcmp(end, "B") != 0) ||
	    !(value >= 1 && value < 0x1p62))
		return options_wrong(fault, option, argument, "bytes such as 500M or 2G");
	*ret = (uint64_t)value;
	return 0;
}

int options_parse_span(const char *option, const char *argument, uint64_t *ret, struct fault *fault)
{
	const char *end = argument;

	if (!time_span_take(&end, ret) || *end || *ret == 0 || *ret > INT64_MAX)
		return options_wrong(fault, option, argument,
				     "a length of time such as 2h, 10days or '1week 2days'");
	return 0;
}

int options_parse_time(const char *option, const char *argument, uint64_t now_us, bool late,
		       uint64_t *ret, struct fault *fault)
{
	struct time_spec spec;

	if (time_spec_parse(&spec, argument, now_us) < 0)
		return options_wrong(fault, option, argument,
				     "a time such as -5min, 10:00, yesterday-10:00 or "
				     "'2026-11-20 10:00'");
	*ret = time_spec_us(&spec, late);
	return 0;
}

int options_parse_tree(const char *argument, enum view_tree_first *ret, struct fault *fault)
{
	*ret = VIEW_TREE_CALLER;
	if (argument && view_tree_parse(ret, argument) < 0)
		return options_wrong(fault, "--tree", argument, "caller or callee");
	return 0;
}

int options_parse_level(const char *argument, enum top_level *ret, struct fault *fault)
{
	if (strcmp(argument, "user") == 0)
		*ret = TOP_LEVEL_USER;
	else if (strcmp(argument, "kernel") == 0)
		*ret = TOP_LEVEL_KERNEL;
	else
		return options_wrong(fault, "--level", argument, "user or kernel");
	return 0;
}

int options_parse_depth(const char *argument, uint32_t *ret, struct fault *fault)
{
	char *end;
	unsigned long n = strtoul(argument, &end, 10);

	if (strcmp(argument, "full") == 0) {
		*ret = STREAM_DEPTH_FULL;
		return 0;
	}
	if (*argument < '0' || *argument > '9' || *end != '\0' || n < 1 || n > STREAM_DEPTH_MAX)
		return options_wrong(fault, "--depth", argument,
				     "a number of frames from 1 to 128, or full");
	*ret = (uint32_t)n;
	return 0;
}

size_t options_parse_views(const char *argument, enum view_by ret[N_VIEWS])
{
	char name[32];
	size_t n = 0, length;

	for (;; argument += length + 1) {
		length = strcspn(argument, ",");
		if (n == N_VIEWS || length >= sizeof(name))
			return 0;
		memcpy(name, argument, length);
		name[length] = '\0';
		if (view_parse(&ret[n], name) < 0)
			return 0;
		for (size_t i = 0; i < n; i++)
			if (ret[i] == ret[n])
				return 0;
		n++;
		if (argument[length] == '\0')
			return n;
	}
}

int options_parse_branch_kinds(const char *argument, uint32_t *ret, struct fault *fault)
{
	if (branch_kinds_parse(ret, argument) < 0)
		return options_wrong(
			fault, "--branch-kind", argument,
			"cond, jmp, ind_jmp, call, ind_call, ret, any_call or any_ret, or "
			"several, separated by commas");
	return 0;
}
