/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options/table.h"
#include "client/cli/options/value.h"
#include "common/profile/patterns.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Appends @argument to the list, which is the filter's *@ret then. */
static int append(char **list, const char **ret, const char *name, const char *argument,
		  struct fault *fault)
{
	char *both;

	if (*argument == '\0')
		return options_wrong(fault, name, argument,
				     "one or more, with commas between them");
	if (strlen(argument) + (*list ? strlen(*list) + 1 : 0) > PATTERNS_MAX)
		return fault_set(fault, -EINVAL,
				 "%s: give at most %d bytes; a pattern such as 'app-*' stands for "
				 "many names",
				 name, PATTERNS_MAX);
	if (asprintf(&both, "%s%s%s", *list ?: "", *list ? "," : "", argument) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	free(*list);
	*ret = *list = both;
	return 0;
}

/* The number of a user. */
static int find_user(const char *name, uint32_t *ret)
{
	const struct passwd *user;

	if (patterns_are_numbers(name, UINT32_MAX - 1)) {
		*ret = (uint32_t)strtoul(name, NULL, 10);
		return 0;
	}
	user = getpwnam(name);
	if (!user)
		return -ENOENT;
	*ret = user->pw_uid;
	return 0;
}

static int append_users(char **list, const char **ret, const char *argument, struct fault *fault)
{
	_cleanup_free_ char *copy = strdup(argument);
	char number[16], *rest = copy, *name;
	uint32_t uid;
	int r = 0;

	if (!copy)
		return fault_set(fault, -ENOMEM, "out of memory");
	while (r >= 0 && (name = strsep(&rest, ","))) {
		if (find_user(name, &uid) < 0)
			return options_wrong(fault, "--uid", name,
					     "a user of this machine or the number of any");
		snprintf(number, sizeof(number), "%" PRIu32, uid);
		r = append(list, ret, "--uid", number, fault);
	}
	return r;
}

int options_filter_apply(struct options *options, int key, const char *argument,
			 struct fault *fault)
{
	struct profile_filter *filter = &options->source.filter;
	const struct {
		int key;
		const char *name;
		const char **value;
	} filters[OPTIONS_N_FILTERS] = {
		{ KEY_PID, "--pid", &filter->pid },
		{ KEY_UID, "--uid", &filter->uid },
		{ KEY_COMM, "--comm", &filter->comm },
		{ KEY_EXCLUDE_COMM, "--exclude-comm", &filter->exclude_comm },
		{ KEY_UNIT, "--unit", &filter->unit },
		{ KEY_CONTAINER, "--container", &filter->container },
		{ KEY_OBJECT, "--object", &filter->object },
		{ KEY_SYMBOL, "--symbol", &filter->symbol },
	};

	if (key == KEY_PID && !patterns_are_numbers(argument, INT32_MAX))
		return options_wrong(fault, "--pid", argument,
				     "the number of a process, or several with commas between "
				     "them");
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		if (key != filters[i].key)
			continue;
		return key == KEY_UID ?
			       append_users(&options->lists[i], filters[i].value, argument, fault) :
			       append(&options->lists[i], filters[i].value, filters[i].name,
				      argument, fault);
	}
	return -ENOENT;
}

void options_filter_done(struct options *options)
{
	for (size_t i = 0; i < OPTIONS_N_FILTERS; i++)
		free(options->lists[i]);
}
