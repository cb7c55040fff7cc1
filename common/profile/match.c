/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person may call a process, an object or a function. A demangled name is taken apart by brackets
 * alone, which needs no knowledge of types. The limit: "operator<" inside template arguments is
 * taken for a bracket.
 */
#include "common/profile/filter.h"

#include <string.h>

static bool unit_matches(const char *unit, const char *wanted)
{
	static const char suffix[] = ".service";
	size_t n = strlen(wanted);

	if (!unit || strncmp(unit, wanted, n) != 0)
		return false;
	return unit[n] == '\0' || strcmp(unit + n, suffix) == 0;
}

bool profile_process_matches(const struct profile_process *process, const struct profile_filter *f)
{
	if (f->pid >= 0 && process->pid != f->pid)
		return false;
	if (f->uid >= 0 && (process->uid == UINT32_MAX || process->uid != f->uid))
		return false;
	if (f->comm && strcmp(process->comm, f->comm) != 0)
		return false;
	return !f->unit || unit_matches(process->unit, f->unit);
}

static bool equal_part(const char *text, size_t n, const char *wanted)
{
	return strlen(wanted) == n && memcmp(text, wanted, n) == 0;
}

bool profile_object_matches(const struct profile_object *object, const char *wanted)
{
	static const char deleted[] = " (deleted)";
	const char *path = object->path, *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	size_t n = strlen(path), n_deleted = sizeof(deleted) - 1;

	if (strcmp(path, wanted) == 0 || strcmp(last, wanted) == 0)
		return true;
	if (n < n_deleted || strcmp(path + n - n_deleted, deleted) != 0)
		return false;
	n -= n_deleted;
	return equal_part(path, n, wanted) ||
	       (last <= path + n && equal_part(last, (size_t)(path + n - last), wanted));
}

/* The parts of a demangled name: offsets into it. */
struct parts {
	size_t start;	  /* of the name proper, after a return type */
	size_t arguments; /* the '<' of its own template arguments; or else @end */
	size_t end;	  /* the '(' of its parameters, or the end of the text */
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* How long an "operator..." is that begins at @at: with its sign, or up to its '(' for a type. */
static size_t operator_length(const char *name, size_t at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;
	const char *sign;

	if ((at > 0 && is_word(name[at - 1])) || strncmp(name + at, word, n) != 0 ||
	    is_word(name[at + n]))
		return 0;
	sign = name + at + n;
	if (strncmp(sign, "()", 2) == 0 || strncmp(sign, "[]", 2) == 0)
		return n + 2;
	if (*sign == ' ' || *sign == '"') /* of a type, new, delete, a literal: "operator bool" */
		return n + strcspn(sign, "(<");
	return n + strspn(sign, "<>=!+-*/%^&|~,");
}

/* The offset behind the bracket that closes the one at @at, or the end of the text. */
static size_t skip_brackets(const char *name, size_t at)
{
	size_t depth = 0;

	for (; name[at]; at++) {
		if (strchr("(<[{", name[at]))
			depth++;
		else if (name[at] == '>' && at > 0 && name[at - 1] == '-')
			continue; /* of a "->" */
		else if (strchr(")>]}", name[at]) && --depth == 0)
			return at + 1;
	}
	return at;
}

/* Whether what follows the brackets belongs to the name: "f(int)::g", "f() const::{lambda()#1}". */
static bool name_goes_on(const char *after)
{
	if (strncmp(after, " const", 6) == 0)
		after += 6;
	return strncmp(after, "::", 2) == 0;
}

static struct parts take_apart(const char *name)
{
	size_t at = 0, after, arguments = 0, arguments_end = 0;
	struct parts parts = { 0 };

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
		if (name[at] == '<') {
			arguments = at;
			arguments_end = after;
		}
		at = after;
	}
	parts.end = at;
	parts.arguments = arguments > parts.start && arguments_end == at ? arguments : at;
	if (parts.arguments > parts.start && name[parts.arguments - 1] == ' ')
		parts.arguments--;
	return parts;
}

bool profile_symbol_matches(const char *name, const char *wanted)
{
	struct parts parts;

	if (strcmp(name, wanted) == 0)
		return true;
	parts = take_apart(name);
	return equal_part(name, parts.end, wanted) ||
	       equal_part(name + parts.start, parts.end - parts.start, wanted) ||
	       equal_part(name + parts.start, parts.arguments - parts.start, wanted);
}
