/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/filter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/patterns.h"
#include "common/util/macro.h"

/* Copies the word at *@text to *@to, without quotes, and moves both behind it. NULL at the end.
 * *@ret_open: a quote was not closed. */
static char *take_word(const char **text, char **to, bool *ret_open)
{
	char *word = *to;
	bool quoted = false;

	*text += strspn(*text, " ");
	if (**text == '\0')
		return NULL;
	for (; **text && (quoted || **text != ' '); (*text)++)
		if (**text == '"')
			quoted = !quoted;
		else
			*(*to)++ = **text;
	*(*to)++ = '\0';
	*ret_open = quoted;
	return word;
}

static int set_numbers(const char **ret, const char *name, const char *value, int64_t max,
		       struct fault *fault)
{
	if (!patterns_are_numbers(value, max))
		return fault_set(fault, -EINVAL, "%s=%s: give a number", name, value);
	*ret = value;
	return 0;
}

/* 1 if there is no filter @name. */
static int set(struct profile_filter *filter, const char *name, const char *value,
	       struct fault *fault)
{
	const struct {
		const char *name;
		const char **value;
	} texts[] = {
		{ "comm", &filter->comm },     { "exclude-comm", &filter->exclude_comm },
		{ "unit", &filter->unit },     { "container", &filter->container },
		{ "object", &filter->object }, { "symbol", &filter->symbol },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].value = value;
			return 0;
		}
	if (strcmp(name, "pid") == 0)
		return set_numbers(&filter->pid, name, value, INT32_MAX, fault);
	if (strcmp(name, "uid") == 0)
		return set_numbers(&filter->uid, name, value, UINT32_MAX - 1, fault);
	return 1;
}

static void add_word(struct live_filter *filter, const char *word)
{
	size_t n = strlen(filter->words);

	snprintf(filter->words + n, sizeof(filter->words) - n, "%s%s", n > 0 ? " " : "", word);
}

/* Whether a filter could have that name; symbols such as "operator==" are searched. */
static bool is_name(const char *word, size_t n)
{
	return n > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyz-_") >= n &&
	       strncmp(word, "operator", 8) != 0;
}

static int apply(struct live_filter *filter, char *word, struct fault *fault)
{
	char *equals = strchr(word, '=');
	int r = 1;

	if (equals) {
		*equals = '\0';
		r = set(&filter->profile, word, equals + 1, fault);
		*equals = '=';
	}
	if (r > 0 && equals && is_name(word, (size_t)(equals - word)))
		return fault_set(
			fault, -EINVAL,
			"there is no filter %.*s=; there are pid, uid, comm, exclude-comm, unit, "
			"container, object, symbol",
			(int)(equals - word), word);
	if (r > 0)
		add_word(filter, word);
	return r < 0 ? r : 0;
}

int live_filter_parse(struct live_filter *ret, const char *text, struct fault *fault)
{
	char *to = ret->values, *word;
	bool is_open = false;
	int r = 0;

	*ret = (struct live_filter){ .profile = PROFILE_FILTER_INIT };
	if (strlen(text) + 1 > sizeof(ret->values))
		return fault_set(fault, -EINVAL, "the filter is too long");
	while (r >= 0 && (word = take_word(&text, &to, &is_open)))
		r = is_open ? fault_set(fault, -EINVAL, "a quote is not closed in the filter") :
			      apply(ret, word, fault);
	if (r < 0)
		*ret = (struct live_filter){ .profile = PROFILE_FILTER_INIT };
	return r;
}

static void append(char ret[LIVE_FILTER_MAX], const char *name, const char *value)
{
	size_t n = strlen(ret);
	const char *quote = strchr(value, ' ') ? "\"" : "";

	snprintf(ret + n, LIVE_FILTER_MAX - n, "%s%s=%s%s%s", n > 0 ? " " : "", name, quote, value,
		 quote);
}

void live_filter_format(char ret[LIVE_FILTER_MAX], const struct profile_filter *filter)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "pid", filter->pid },       { "uid", filter->uid },
		{ "comm", filter->comm },     { "exclude-comm", filter->exclude_comm },
		{ "unit", filter->unit },     { "container", filter->container },
		{ "object", filter->object }, { "symbol", filter->symbol },
	};

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].value)
			append(ret, texts[i].name, texts[i].value);
}
