/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

/* Copies the word at *@text to *@to, without quotes, and moves both behind it. NULL at the end. */
static char *take_word(const char **text, char **to)
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
	return word;
}

static int parse_number(int64_t *ret, const char *name, const char *value, struct fault *fault)
{
	char *end;

	errno = 0;
	*ret = strtoll(value, &end, 10);
	if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0)
		return 0;
	*ret = -1;
	return fault_set(fault, -EINVAL, "%s=%s: give a number", name, value);
}

/* 1 if there is no filter @name. */
static int set(struct profile_filter *filter, const char *name, const char *value,
	       struct fault *fault)
{
	const struct {
		const char *name;
		const char **value;
	} texts[] = {
		{ "comm", &filter->comm },
		{ "unit", &filter->unit },
		{ "object", &filter->object },
		{ "symbol", &filter->symbol },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].value = value;
			return 0;
		}
	if (strcmp(name, "pid") == 0)
		return parse_number(&filter->pid, name, value, fault);
	if (strcmp(name, "uid") == 0)
		return parse_number(&filter->uid, name, value, fault);
	return 1;
}

static void add_word(struct live_filter *filter, const char *word)
{
	size_t n = strlen(filter->words);

	snprintf(filter->words + n, sizeof(filter->words) - n, "%s%s", n > 0 ? " " : "", word);
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
	if (r > 0)
		add_word(filter, word);
	return r < 0 ? r : 0;
}

int live_filter_parse(struct live_filter *ret, const char *text, struct fault *fault)
{
	char *to = ret->values, *word;
	int r = 0;

	*ret = (struct live_filter){ .profile = PROFILE_FILTER_INIT };
	if (strlen(text) + 1 > sizeof(ret->values))
		return fault_set(fault, -EINVAL, "the filter is too long");
	while (r >= 0 && (word = take_word(&text, &to)))
		r = apply(ret, word, fault);
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
	char number[32];

	ret[0] = '\0';
	if (filter->pid >= 0) {
		snprintf(number, sizeof(number), "%" PRId64, filter->pid);
		append(ret, "pid", number);
	}
	if (filter->uid >= 0) {
		snprintf(number, sizeof(number), "%" PRId64, filter->uid);
		append(ret, "uid", number);
	}
	if (filter->comm)
		append(ret, "comm", filter->comm);
	if (filter->unit)
		append(ret, "unit", filter->unit);
	if (filter->object)
		append(ret, "object", filter->object);
	if (filter->symbol)
		append(ret, "symbol", filter->symbol);
}
