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
	static const bool matters[256] = {
		['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true, [','] = true,
	};
	size_t depth = 0;

	for (; s->at < s->end; s->at++) {
		char c = *s->at;

		if (!matters[(unsigned char)c])
			continue;
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

static void note(struct json_member *members, size_t n, const struct span *name,
		 const struct span *value)
{
	size_t n_name = (size_t)(name->end - name->at);

	for (size_t i = 0; i < n; i++) {
		struct json_member *member = &members[i];

		if (member->text || strlen(member->name) != n_name ||
		    memcmp(member->name, name->at, n_name) != 0)
			continue;
		member->text = value->at;
		member->n_bytes = (size_t)(value->end - value->at);
	}
}

int json_members_find(const char *text, size_t n_bytes, struct json_member *members, size_t n)
{
	struct span s = { text, text + n_bytes }, name, value;

	for (size_t i = 0; i < n; i++)
		members[i].text = NULL;
	if (!take(&s, '{'))
		return -EINVAL;
	if (take(&s, '}')) {
		skip_space(&s);
		return s.at == s.end ? 0 : -EINVAL;
	}
	do {
		if (!take_member(&s, &name, &value))
			return -EINVAL;
		note(members, n, &name, &value);
	} while (take(&s, ','));
	if (!take(&s, '}'))
		return -EINVAL;
	skip_space(&s);
	return s.at == s.end ? 0 : -EINVAL;
}
