/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/task-filter.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <string.h>

#include "common/util/macro.h"
#include "daemon/config/value.h"

/* A parser of one word; @ret has room for one more. */
typedef int (*word_parser)(const char *word, void *ret);

static int for_each_word(const char *text, word_parser parse, void *ret)
{
	char word[TASK_FILTER_UNIT_MAX];
	int r = -EINVAL;

	for (;;) {
		size_t n;

		text += strspn(text, " \t");
		n = strcspn(text, " \t");
		if (n == 0)
			return r;
		if (n >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, n);
		word[n] = '\0';
		r = parse(word, ret);
		if (r < 0)
			return r;
		text += n;
	}
}

static int add_id(struct id_list *list, uint32_t id)
{
	if (list->n == ARRAY_SIZE(list->ids))
		return -E2BIG;
	list->ids[list->n++] = id;
	return 0;
}

static int add_pid(const char *word, void *ret)
{
	uint64_t pid;

	if (config_value_count(word, &pid) < 0 || pid == 0 || pid > INT_MAX)
		return -EINVAL;
	return add_id(ret, (uint32_t)pid);
}

static int add_user(const char *word, void *ret)
{
	const struct passwd *user;
	uint64_t uid;

	if (config_value_count(word, &uid) == 0)
		return uid < UINT32_MAX ? add_id(ret, (uint32_t)uid) : -EINVAL;
	user = getpwnam(word);
	return user ? add_id(ret, user->pw_uid) : -EINVAL;
}

/* A unit that processes run in: not a slice, which holds other units. */
static bool is_unit(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot && dot > word && !strchr(word, '/') &&
	       (strcmp(dot, ".service") == 0 || strcmp(dot, ".scope") == 0);
}

static int add_unit(const char *word, void *ret)
{
	struct unit_list *list = ret;

	if (!is_unit(word))
		return -EINVAL;
	if (list->n == ARRAY_SIZE(list->names))
		return -E2BIG;
	strcpy(list->names[list->n++], word);
	return 0;
}

static int parse_ids(const char *text, word_parser parse, struct id_list *ret)
{
	struct id_list list = { 0 };
	int r = for_each_word(text, parse, &list);

	if (r >= 0)
		*ret = list;
	return r;
}

int task_filter_parse_pids(const char *text, struct id_list *ret)
{
	return parse_ids(text, add_pid, ret);
}

int task_filter_parse_users(const char *text, struct id_list *ret)
{
	return parse_ids(text, add_user, ret);
}

int task_filter_parse_units(const char *text, struct unit_list *ret)
{
	struct unit_list list = { 0 };
	int r = for_each_word(text, add_unit, &list);

	if (r >= 0)
		*ret = list;
	return r;
}
