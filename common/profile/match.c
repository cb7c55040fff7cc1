/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a process, an object or a function is the one a user asked for. Demangled names are split
 * at brackets alone, without knowledge of types.
 *
 * The name and the wanted text are compared from left to right. In place of template arguments the
 * wanted text may have "<...>", as a narrow table shows them, or nothing; in place of parameters
 * within a name, "(...)".
 */
#include "common/profile/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SUFFIX ".service"

/* The pattern at *@list, up to a comma, in @piece, and *@list behind it. False: at the end. */
static bool next_pattern(const char **list, char *piece)
{
	size_t n = strcspn(*list, ",");

	if (**list == '\0' || n > FILTER_LIST_MAX)
		return false;
	memcpy(piece, *list, n);
	piece[n] = '\0';
	*list += n + ((*list)[n] == ',');
	return true;
}

/* Names may have backslashes, and brackets, that are meant as they are. */
static bool pattern_matches(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 || fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

static bool comm_matches(const char *comm, const char *wanted)
{
	char pattern[FILTER_LIST_MAX + 1];

	if (strcmp(comm, wanted) == 0) /* with a comma in it */
		return true;
	while (next_pattern(&wanted, pattern))
		if (pattern_matches(pattern, comm))
			return true;
	return false;
}

static bool unit_matches(const char *unit, const char *wanted)
{
	char pattern[FILTER_LIST_MAX + sizeof(SUFFIX)];

	if (!unit)
		return false;
	while (next_pattern(&wanted, pattern)) {
		if (pattern_matches(pattern, unit))
			return true;
		strcat(pattern, SUFFIX);
		if (pattern_matches(pattern, unit))
			return true;
	}
	return false;
}

bool profile_process_matches(const struct profile_process *process, const struct profile_filter *f)
{
	if (f->pid >= 0 && process->pid != f->pid)
		return false;
	if (f->uid >= 0 && (process->uid == UINT32_MAX || process->uid != f->uid))
		return false;
	if (f->visible && process->restricted)
		return false;
	if (f->comm && !comm_matches(process->comm, f->comm))
		return false;
	return !f->unit || unit_matches(process->unit, f->unit);
}

static bool equal_part(const char *text, size_t n, const char *wanted)
{
	return strlen(wanted) == n && memcmp(text, wanted, n) == 0;
}

/* The whole build-id, in hexadecimal digits. */
static bool build_id_matches(const struct profile_object *object, const char *wanted)
{
	if (object->n_build_id == 0 || strlen(wanted) != 2 * (size_t)object->n_build_id)
		return false;
	for (size_t i = 0; i < object->n_build_id; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", object->build_id[i]);
		if (strncasecmp(digits, wanted + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

bool profile_object_matches(const struct profile_object *object, const char *wanted)
{
	static const char deleted[] = " (deleted)";
	const char *path = object->path, *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	size_t n = strlen(path), n_deleted = sizeof(deleted) - 1;

	if (strcmp(path, wanted) == 0 || strcmp(last, wanted) == 0 ||
	    build_id_matches(object, wanted))
		return true;
	if (n < n_deleted || strcmp(path + n - n_deleted, deleted) != 0)
		return false;
	n -= n_deleted;
	return equal_part(path, n, wanted) ||
	       (last <= path + n && equal_part(last, (size_t)(path + n - last), wanted));
}

/* The parts of a demangled name: offsets into it. */
struct parts {
	size_t start; /* of the name proper, after a return type */
	size_t end;   /* the '(' of its parameters, or the end of the text */
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of an operator's sign. The "<" in "operator><int>" begins its template arguments. */
static size_t sign_length(const char *sign)
{
	static const char *const longer[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=",
		"&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=",
	};

	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
		if (strncmp(sign, longer[i], strlen(longer[i])) == 0)
			return strlen(longer[i]);
	return *sign && strchr("<>=!+-*/%^&|~,", *sign);
}

/* The length of an "operator..." at @at: with its sign, or up to the '(' for a type; or 0. */
static size_t operator_length(const char *name, size_t at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;
	const char *sign;

	if ((at > 0 && is_word(name[at - 1])) || strncmp(name + at, word, n) != 0 ||
	    is_word(name[at + n]))
		return 0;
	sign = name + at + n;
	if (*sign == ' ' || *sign == '"') /* of a type, new, delete, a literal: "operator bool" */
		return n + strcspn(sign, "(<");
	return n + sign_length(sign);
}

/* The offset behind the bracket that closes the one at @at, or the end of the text. */
static size_t skip_brackets(const char *name, size_t at)
{
	size_t depth = 0, n;

	for (; name[at]; at += n) {
		n = operator_length(name, at) ?: 1;
		if (n > 1)
			continue;
		if (strchr("(<[{", name[at]))
			depth++;
		else if (name[at] == '>' && at > 0 && name[at - 1] == '-')
			continue; /* of a "->" */
		else if (strchr(")>]}", name[at]) && --depth == 0)
			return at + 1;
	}
	return at;
}

/* True if the name continues behind the brackets: "f(int)::g", "f() const::{lambda()#1}". */
static bool name_goes_on(const char *after)
{
	if (strncmp(after, " const", 6) == 0)
		after += 6;
	return strncmp(after, "::", 2) == 0;
}

static struct parts take_apart(const char *name)
{
	struct parts parts = { 0 };
	size_t at = 0, after;

	while (name[at]) {
		size_t n = operator_length(name, at);

		if (n > 0) {
			at += n;
			at += strncmp(name + at, " <", 2) == 0; /* "operator<< <char>" */
			continue;
		}
		if (!strchr("(<[{", name[at])) {
			if (name[at++] == ' ')
				parts.start = at;
			continue;
		}
		after = skip_brackets(name, at);
		if (name[at] == '(' && at > 0 && !name_goes_on(name + after))
			break;
		at = after;
	}
	parts.end = at;
	return parts;
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/*
 * The length of the template arguments of @name at @at, if @wanted has none there, or "<...>"; else
 * 0. *@ret_wanted is the length of the part of @wanted that stands for them.
 */
static size_t arguments_length(const char *name, size_t at, const char *wanted, size_t *ret_wanted)
{
	static const char *const leads[] = { "<", " <", "::<" }; /* the last of Rust */

	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		size_t n = strlen(leads[i]);

		if (!begins_with(name + at, leads[i]))
			continue;
		*ret_wanted = 0;
		if (begins_with(wanted, leads[i])) {
			if (!begins_with(wanted + n, "...>"))
				return 0;
			*ret_wanted = n + 4;
		}
		return skip_brackets(name, at + n - 1) - at;
	}
	return 0;
}

/* As arguments_length(), for parameters too. */
static size_t left_out_length(const char *name, size_t at, const char *wanted, size_t *ret_wanted)
{
	if (name[at] == '(' && begins_with(wanted, "(...)")) {
		*ret_wanted = 5;
		return skip_brackets(name, at) - at;
	}
	return arguments_length(name, at, wanted, ret_wanted);
}

/* Compares [@at, @end) of @name. A bracket at its start is part of it: "<T as Trait>::f" in Rust.
 */
static bool part_matches(const char *name, size_t at, size_t end, const char *wanted)
{
	size_t start = at;

	while (at < end) {
		size_t n = operator_length(name, at) ?: 1, n_wanted = 0, n_left_out = 0;

		if (n == 1 && at > start)
			n_left_out = left_out_length(name, at, wanted, &n_wanted);
		if (n_left_out > 0) {
			at += n_left_out;
			wanted += n_wanted;
			continue;
		}
		if (strncmp(name + at, wanted, n) != 0)
			return false;
		at += n;
		wanted += n;
	}
	return at == end && *wanted == '\0';
}

bool profile_symbol_matches(const char *name, const char *wanted)
{
	struct parts parts;
	size_t n = strlen(name);

	if (strcmp(name, wanted) == 0)
		return true;
	parts = take_apart(name);
	return part_matches(name, 0, n, wanted) || part_matches(name, 0, parts.end, wanted) ||
	       part_matches(name, parts.start, n, wanted) ||
	       part_matches(name, parts.start, parts.end, wanted);
}
