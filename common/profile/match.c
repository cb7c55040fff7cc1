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

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/profile/container.h"
#include "common/profile/patterns.h"
#include "common/util/cleanup.h"

#define SUFFIX ".service"

static bool is_named(const char *pattern, const void *name)
{
	return pattern_matches(pattern, name);
}

/* The whole name, which may have commas; or a list. */
static bool comm_is_in(const char *comm, const char *list)
{
	return strcmp(comm, list) == 0 || patterns_any(list, is_named, comm);
}

static bool is_unit(const char *pattern, const void *unit)
{
	char service[PATTERNS_MAX + sizeof(SUFFIX)];

	snprintf(service, sizeof(service), "%s" SUFFIX, pattern);
	return pattern_matches(pattern, unit) || pattern_matches(service, unit);
}

/* A path of control groups is of each of the units in it. */
static bool unit_is_in(const char *unit, const char *list)
{
	char part[256];
	size_t n;

	if (patterns_any(list, is_unit, unit))
		return true;
	for (; *unit == '/'; unit += n) {
		n = strcspn(++unit, "/");
		snprintf(part, sizeof(part), "%.*s", (int)n, unit);
		if (patterns_any(list, is_unit, part))
			return true;
	}
	return false;
}

static bool has_user(const struct profile_process *process, const char *list)
{
	return process->uid != UINT32_MAX && patterns_have_number(list, process->uid);
}

static bool is_none(const char *pattern, const void *unused)
{
	(void)unused;
	return strcmp(pattern, "-") == 0;
}

static bool is_in_unit(const struct profile_process *process, const char *list)
{
	return process->unit ? unit_is_in(process->unit, list) : patterns_any(list, is_none, NULL);
}

static bool is_in_container(const struct profile_process *process, const char *list)
{
	struct container container;

	return container_find(&container, process->unit) ? container_is_in(&container, list) :
							   patterns_any(list, is_none, NULL);
}

bool profile_process_matches(const struct profile_process *process, const struct profile_filter *f)
{
	if (f->pid && !patterns_have_number(f->pid, process->pid))
		return false;
	if (f->uid && !has_user(process, f->uid))
		return false;
	if (f->visible && process->restricted)
		return false;
	if (f->comm && !comm_is_in(process->comm, f->comm))
		return false;
	if (f->exclude_comm && comm_is_in(process->comm, f->exclude_comm))
		return false;
	if (f->chosen && !f->chosen(process, f->chosen_of))
		return false;
	if (f->container && !is_in_container(process, f->container))
		return false;
	return !f->unit || is_in_unit(process, f->unit);
}

static bool equal_part(const char *text, size_t n, const char *wanted)
{
	return strlen(wanted) == n && memcmp(text, wanted, n) == 0;
}

#define MIN_DIGITS 8 /* of the begin of a build-id, as tables show it */

/* The whole build-id, or the begin of it, in hexadecimal digits. */
static bool build_id_matches(const struct profile_object *object, const char *wanted)
{
	size_t n = strlen(wanted), n_all = 2 * (size_t)object->n_build_id;

	if (n == 0 || n > n_all || (n < n_all && n < MIN_DIGITS))
		return false;
	for (size_t i = 0; 2 * i < n; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", object->build_id[i]);
		if (strncasecmp(digits, wanted + 2 * i, MIN(n - 2 * i, (size_t)2)) != 0)
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

static bool is_object(const char *wanted, const void *userdata)
{
	const struct profile_object *object = userdata;
	const char *slash = strrchr(object->path, '/');

	return profile_object_matches(object, wanted) || pattern_matches(wanted, object->path) ||
	       (slash && pattern_matches(wanted, slash + 1));
}

bool profile_object_is_in(const struct profile_object *object, const char *list)
{
	return profile_object_matches(object, list) || patterns_any(list, is_object, object);
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

/* A pattern is for the name without parameters, or with them. */
static bool is_symbol(const char *wanted, const void *userdata)
{
	const char *name = userdata;
	struct parts parts;
	char proper[PATTERNS_MAX];

	if (profile_symbol_matches(name, wanted) || pattern_matches(wanted, name))
		return true;
	if (!strpbrk(wanted, "*?["))
		return false;
	parts = take_apart(name);
	snprintf(proper, sizeof(proper), "%.*s", (int)(parts.end - parts.start),
		 name + parts.start);
	return pattern_matches(wanted, proper);
}

bool profile_symbol_is_in(const char *name, const char *list)
{
	return profile_symbol_matches(name, list) || patterns_any(list, is_symbol, name);
}

static bool is_listed(const char *path, const char *list)
{
	const struct profile_object object = { .kind = OBJECT_FILE, .path = path };

	return profile_object_is_in(&object, list);
}

static bool is_executable(const struct profile *p, const struct profile_object *object)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].executable &&
		    strcmp(p->processes[i].executable, object->path) == 0)
			return true;
	return false;
}

/* Which objects are programs. */
static void find_programs(const struct profile *p, bool *ret)
{
	for (size_t i = 0; i < p->n_objects; i++)
		ret[i] = p->objects[i].kind == OBJECT_FILE && is_executable(p, &p->objects[i]);
	for (size_t i = 0; i < p->n_functions; i++)
		if (p->functions[i].object != PROFILE_NONE &&
		    strcmp(p->functions[i].name, "main") == 0)
			ret[p->functions[i].object] = true;
}

static int select_programs(const struct profile *p, const char *list, bool *ret)
{
	_cleanup_free_ bool *runs = calloc(p->n_processes + 1, sizeof(*runs));
	_cleanup_free_ bool *programs = calloc(p->n_objects + 1, sizeof(*programs));

	if (!runs || !programs)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		runs[i] = p->processes[i].executable && is_listed(p->processes[i].executable, list);
	find_programs(p, programs);
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (stack->process != PROFILE_NONE && runs[stack->process] &&
		    stack->frame.object != PROFILE_NONE && programs[stack->frame.object])
			ret[stack->frame.object] = true;
	}
	return 0;
}

int profile_select_objects(const struct profile *profile, const char *list, bool *ret)
{
	bool found = false;

	for (size_t i = 0; i < profile->n_objects; i++) {
		ret[i] = profile_object_is_in(&profile->objects[i], list);
		found |= ret[i];
	}
	return found ? 0 : select_programs(profile, list, ret);
}
