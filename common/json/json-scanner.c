/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/json/json-scanner.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define NUMBER_MAX 20 /* digits of 2^64 - 1 */

int json_scanner_fail(const struct json_scanner *s, const char *member, const char *what)
{
	const char *where = s->where ?: "the top level";
	char row[32] = "";

	if (s->row != SIZE_MAX)
		snprintf(row, sizeof(row), " row %zu", s->row);
	return fault_set(s->fault, -EINVAL, "profile: %s%s%s%s: %s (byte %zu)", where, row,
			 member ? ": " : "", member ?: "", what, s->at);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct json_scanner *s)
{
	while (s->at < s->n_bytes && is_space(s->text[s->at]))
		s->at++;
}

/* Skips the next token if it is @c: 1 or 0. */
static int skip_if(struct json_scanner *s, char c)
{
	skip_space(s);
	if (s->at == s->n_bytes || s->text[s->at] != c)
		return 0;
	s->at++;
	return 1;
}

int json_scan_token(struct json_scanner *s, char c)
{
	const char what[] = { '\'', c, '\'', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', '\0' };

	return skip_if(s, c) ? 0 : json_scanner_fail(s, NULL, what);
}

int json_scan_element(struct json_scanner *s, bool first)
{
	if (skip_if(s, ']'))
		return 0;
	return first || skip_if(s, ',') ? 1 : json_scanner_fail(s, NULL, "',' or ']' expected");
}

/* No known member has other characters in its name, and a fault may show these. */
static bool is_plain_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((name[i] < 'a' || name[i] > 'z') && name[i] != '_')
			return false;
	}
	return true;
}

int json_scan_member(struct json_scanner *s, bool first, char ret_name[JSON_NAME_MAX])
{
	const char *name, *end;

	if (skip_if(s, '}'))
		return 0;
	if (!first && !skip_if(s, ','))
		return json_scanner_fail(s, NULL, "',' or '}' expected");
	if (!skip_if(s, '"'))
		return json_scanner_fail(s, NULL, "the name of a member expected");
	name = s->text + s->at;
	end = memchr(name, '"', s->n_bytes - s->at);
	if (!end || end - name >= JSON_NAME_MAX || !is_plain_name(name, (size_t)(end - name)))
		return json_scanner_fail(s, NULL, "unknown member");
	s->at += (size_t)(end - name) + 1;
	if (!skip_if(s, ':'))
		return json_scanner_fail(s, NULL, "':' expected");
	memcpy(ret_name, name, (size_t)(end - name));
	ret_name[end - name] = '\0';
	return 1;
}

/* The text up to a character that no number has; "" if it is longer than @n. */
static void peek_word(const struct json_scanner *s, char *ret, size_t n)
{
	size_t i = 0;

	for (; s->at + i < s->n_bytes; i++) {
		char c = s->text[s->at + i];

		if (is_space(c) || c == ',' || c == ']' || c == '}' || c == ':' || c == '\0')
			break;
		if (i == n - 1) {
			i = 0;
			break;
		}
		ret[i] = c;
	}
	ret[i] = '\0';
}

static bool parse_decimal(const char *text, size_t n, uint64_t *ret)
{
	uint64_t value = 0;

	if (n == 0 || n > NUMBER_MAX || (n > 1 && *text == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return false;
	}
	*ret = value;
	return true;
}

bool json_parse_big_count(const char *text, uint64_t *ret)
{
	uint64_t value;

	if (!parse_decimal(text, strlen(text), &value) || value <= INT64_MAX)
		return false;
	*ret = value;
	return true;
}

bool json_parse_hex(const char *text, uint64_t *ret)
{
	size_t n = strlen(text);
	uint64_t value = 0;

	if (n < 3 || n > 18 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < n; i++) {
		char c = text[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	*ret = value;
	return true;
}

int json_scan_count(struct json_scanner *s, const char *member, uint64_t *ret)
{
	char word[NUMBER_MAX + 3];
	size_t n;

	skip_space(s);
	peek_word(s, word, sizeof(word));
	n = strlen(word);
	if (*word == '-')
		return json_scanner_fail(s, member, "a count below zero");
	if (*word == '"' && n > 2 && word[n - 1] == '"') {
		word[n - 1] = '\0';
		if (!json_parse_big_count(word + 1, ret))
			return json_scanner_fail(s, member, "a whole number expected");
	} else if (!parse_decimal(word, n, ret) || *ret > INT64_MAX) {
		return json_scanner_fail(s, member, "a whole number expected");
	}
	s->at += n;
	return 0;
}

int json_scan_hex(struct json_scanner *s, const char *member, uint64_t *ret)
{
	char word[24];
	size_t n;

	skip_space(s);
	peek_word(s, word, sizeof(word));
	n = strlen(word);
	if (n < 2 || *word != '"' || word[n - 1] != '"')
		return json_scanner_fail(s, member, "\"0x...\" expected");
	word[n - 1] = '\0';
	if (!json_parse_hex(word + 1, ret))
		return json_scanner_fail(s, member, "\"0x...\" expected");
	s->at += n;
	return 0;
}

int json_scan_null(struct json_scanner *s)
{
	char word[8];

	skip_space(s);
	peek_word(s, word, sizeof(word));
	if (strcmp(word, "null") != 0)
		return 0;
	s->at += 4;
	return 1;
}

/* jansson's message may quote the input: replaces characters that are not safe to show. */
static int fail_text(const struct json_scanner *s, json_error_t *error)
{
	for (char *c = error->text; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return json_scanner_fail(s, NULL, error->text);
}

int json_scan_object(struct json_scanner *s, json_t **ret)
{
	json_error_t error;
	json_t *object;
	size_t n;

	skip_space(s);
	n = MIN(s->n_bytes - s->at, (size_t)INT_MAX); /* error.position is an int */
	if (s->at == s->n_bytes || s->text[s->at] != '{')
		return json_scanner_fail(s, NULL, "an object expected");
	object = json_loadb(s->text + s->at, n, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES,
			    &error);
	if (!object && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!object)
		return fail_text(s, &error);
	s->at += (size_t)error.position;
	*ret = object;
	return 0;
}

int json_scan_end(struct json_scanner *s)
{
	skip_space(s);
	return s->at == s->n_bytes ? 0 : json_scanner_fail(s, NULL, "text after the end");
}
