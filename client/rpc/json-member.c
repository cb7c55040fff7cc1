/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/json-member.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct span {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct span *s)
{
	while (s->at < s->end && is_space(*s->at))
		s->at++;
}

static bool take(struct span *s, char c)
{
	skip_space(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* From behind the opening quote to behind the closing one. */
static bool skip_string(struct span *s)
{
	while (s->at < s->end) {
		char c = *s->at++;

		if (c == '"')
			return true;
		if (c == '\\' && s->at < s->end)
			s->at++;
	}
	return false;
}

/* To the comma or bracket behind the value. */
static bool skip_value(struct span *s)
{
	size_t depth = 0;

	for (; s->at < s->end; s->at++) {
		char c = *s->at;

		if (c == '"') {
			s->at++;
			if (!skip_string(s))
				return false;
			s->at--;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
			return true;
		} else if (c == '}' || c == ']') {
			depth--;
		}
	}
	return false;
}

/* The next member; false if there is no valid one. */
static bool take_member(struct span *s, struct span *ret_name, struct span *ret_value)
{
	if (!take(s, '"'))
		return false;
	ret_name->at = s->at;
	if (!skip_string(s))
		return false;
	ret_name->end = s->at - 1;
	if (!take(s, ':'))
		return false;
	skip_space(s);
	ret_value->at = s->at;
	if (!skip_value(s))
		return false;
	ret_value->end = s->at;
	while (ret_value->end > ret_value->at && is_space(ret_value->end[-1]))
		ret_value->end--;
	return ret_value->end > ret_value->at;
}

int json_member_find(const char *text, size_t n_bytes, const char *name, const char **ret,
		     size_t *ret_n)
{
	struct span s = { text, text + n_bytes }, member, value;
	size_t n_name = strlen(name);
	int found = 0;

	if (!take(&s, '{'))
		return -EINVAL;
	if (take(&s, '}'))
		return 0;
	do {
		if (!take_member(&s, &member, &value))
			return -EINVAL;
		if (!found && (size_t)(member.end - member.at) == n_name &&
		    memcmp(member.at, name, n_name) == 0) {
			found = 1;
			*ret = value.at;
			*ret_n = (size_t)(value.end - value.at);
		}
	} while (take(&s, ','));
	if (!take(&s, '}'))
		return -EINVAL;
	skip_space(&s);
	return s.at == s.end ? found : -EINVAL;
}
