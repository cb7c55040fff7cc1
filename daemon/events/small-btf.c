/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/small-btf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/fnv.h"
#include "common/util/macro.h"

#define N_SLOTS   1024 /* a power of two; at least half of them stay free */
#define MAX_NAMES (N_SLOTS / 2)

/* The names of a program, as a hash table. */
struct names {
	struct name {
		const char *text; /* borrowed */
		size_t n;
	} slots[N_SLOTS];
	size_t n;
};

struct buffer {
	char *bytes;
	size_t n, cap;
};

/* Each type of the kernel has a number, from 1 on, in the order in which they are stored. */
struct selection {
	const struct btf_view *kernel;
	struct names names;
	uint32_t *places; /* of the kernel's types, by number */
	size_t n_places, cap_places;
	uint32_t *kept;  /* by number: the new one, or 0 */
	uint32_t *order; /* the numbers of those kept */
	size_t n_order, cap_order;
	struct buffer types, texts;
};

static size_t without_flavor(const char *name)
{
	const char *flavor = strstr(name, "___");

	return flavor ? (size_t)(flavor - name) : strlen(name);
}

/* Its slot, or a free one. */
static struct name *find_name(struct names *names, const char *text, size_t n)
{
	size_t i = fnv_add(FNV_BASIS, text, n) & (N_SLOTS - 1);

	while (names->slots[i].text &&
	       (names->slots[i].n != n || memcmp(names->slots[i].text, text, n) != 0))
		i = (i + 1) & (N_SLOTS - 1);
	return &names->slots[i];
}

static bool is_named(struct selection *s, const char *text, size_t n)
{
	return n > 0 && find_name(&s->names, text, n)->text;
}

static int add_name(struct names *names, const char *text, size_t n)
{
	struct name *slot = find_name(names, text, n);

	if (n == 0 || slot->text)
		return 0;
	if (names->n++ >= MAX_NAMES)
		return -EBADMSG;
	*slot = (struct name){ text, n };
	return 0;
}

static bool has_members(const struct btf_type *type)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static bool is_enum(const struct btf_type *type)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	return kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

/* Of the program: those of types, and of members. */
static int add_names(struct names *names, const struct btf_view *program)
{
	const struct btf_type *type;
	int r = 0;

	for (uint32_t at = 0; r == 0 && at < program->n_types;) {
		const struct btf_member *members;
		const char *name;

		type = btf_view_type(program, at, &at);
		if (!type)
			return -EBADMSG;
		if (!has_members(type) && !is_enum(type))
			continue;
		name = btf_view_name(program, type->name_off);
		r = add_name(names, name, without_flavor(name));
		members = btf_tail(type);
		for (size_t i = 0; has_members(type) && r == 0 && i < BTF_INFO_VLEN(type->info);
		     i++) {
			name = btf_view_name(program, members[i].name_off);
			r = add_name(names, name, strlen(name));
		}
	}
	return r;
}

/* The type gets a place in the new BTF. Void has none: it stays 0. */
static int keep(struct selection *s, uint32_t number)
{
	if (number >= s->n_places)
		return -EBADMSG;
	if (number == 0 || s->kept[number])
		return 0;
	if (ARRAY_RESERVE(&s->order, &s->cap_order, s->n_order + 1) < 0)
		return -ENOMEM;
	s->order[s->n_order++] = number;
	s->kept[number] = (uint32_t)s->n_order;
	return 0;
}

static int find_places(struct selection *s)
{
	s->n_places = 1; /* void is nowhere */
	for (uint32_t at = 0; at < s->kernel->n_types;) {
		if (ARRAY_RESERVE(&s->places, &s->cap_places, s->n_places + 1) < 0)
			return -ENOMEM;
		s->places[s->n_places++] = at;
		if (!btf_view_type(s->kernel, at, &at))
			return -EBADMSG;
	}
	return ARRAY_ALLOCATE_ZEROED(&s->kept, s->n_places);
}

static const struct btf_type *type_of(const struct selection *s, uint32_t number)
{
	return (const void *)(s->kernel->types + s->places[number]);
}

static int keep_named(struct selection *s)
{
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < s->n_places; i++) {
		const struct btf_type *type = type_of(s, i);
		const char *name;

		if (!has_members(type) && !is_enum(type))
			continue;
		name = btf_view_name(s->kernel, type->name_off);
		if (is_named(s, name, without_flavor(name)))
			r = keep(s, i);
	}
	return r;
}

/* What lies in members without a name is reached as if it were the type's own. */
static bool is_wanted(struct selection *s, const struct btf_member *member)
{
	const char *name = btf_view_name(s->kernel, member->name_off);

	return name[0] == '\0' || is_named(s, name, strlen(name));
}

static int append(struct buffer *to, const void *bytes, size_t n)
{
	if (ARRAY_RESERVE(&to->bytes, &to->cap, to->n + n) < 0)
		return -ENOMEM;
	memcpy(to->bytes + to->n, bytes, n);
	to->n += n;
	return 0;
}

/* A name of the kernel becomes one of the new BTF. */
static int take_name(struct selection *s, uint32_t *name)
{
	const char *text = btf_view_name(s->kernel, *name);

	*name = text[0] ? (uint32_t)s->texts.n : 0;
	return text[0] ? append(&s->texts, text, strlen(text) + 1) : 0;
}

/* So does what a type refers to. */
static int take_type(struct selection *s, uint32_t *number)
{
	int r = keep(s, *number);

	if (r == 0)
		*number = s->kept[*number];
	return r;
}

static int write_members(struct selection *s, const struct btf_type *from, size_t at)
{
	const struct btf_member *members = btf_tail(from);
	uint32_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < BTF_INFO_VLEN(from->info); i++) {
		struct btf_member member = members[i];

		if (!is_wanted(s, &member))
			continue;
		n++;
		r = take_name(s, &member.name_off);
		if (r == 0)
			r = take_type(s, &member.type);
		if (r == 0)
			r = append(&s->types, &member, sizeof(member));
	}
	if (r == 0) {
		struct btf_type *type = (void *)(s->types.bytes + at);

		type->info = from->info - BTF_INFO_VLEN(from->info) + n;
	}
	return r;
}

static int write_values(struct selection *s, const struct btf_type *from, size_t n_each)
{
	size_t first = s->types.n;
	int r = append(&s->types, btf_tail(from), BTF_INFO_VLEN(from->info) * n_each);

	/* either kind of a value begins with its name */
	for (size_t i = 0; r == 0 && i < BTF_INFO_VLEN(from->info); i++)
		r = take_name(s, (void *)(s->types.bytes + first + i * n_each));
	return r;
}

static int write_array(struct selection *s, const struct btf_type *from)
{
	struct btf_array array;
	int r;

	memcpy(&array, btf_tail(from), sizeof(array));
	r = take_type(s, &array.type);
	if (r == 0)
		r = take_type(s, &array.index_type);
	return r < 0 ? r : append(&s->types, &array, sizeof(array));
}

static int write_tail(struct selection *s, const struct btf_type *from, size_t at)
{
	switch (BTF_INFO_KIND(from->info)) {
	case BTF_KIND_INT:
		return append(&s->types, btf_tail(from), sizeof(uint32_t));
	case BTF_KIND_ARRAY:
		return write_array(s, from);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return write_members(s, from, at);
	case BTF_KIND_ENUM:
		return write_values(s, from, sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
		return write_values(s, from, sizeof(struct btf_enum64));
	default:
		return 0;
	}
}

/* Members are of no other kinds. 0, or -EBADMSG. */
static int take_reference(struct selection *s, struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
		type->type = 0;
		return 0;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return take_type(s, &type->type);
	case BTF_KIND_FUNC:
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_VAR:
	case BTF_KIND_DATASEC:
	case BTF_KIND_DECL_TAG:
		return -EBADMSG;
	default:
		return 0;
	}
}

static int write_type(struct selection *s, const struct btf_type *from)
{
	struct btf_type type = *from;
	size_t at = s->types.n;
	int r = take_name(s, &type.name_off);

	if (r == 0)
		r = take_reference(s, &type);
	if (r == 0)
		r = append(&s->types, &type, sizeof(type));
	return r < 0 ? r : write_tail(s, from, at);
}

/* Types that are kept on the way come behind. */
static int write_types(struct selection *s)
{
	int r = append(&s->texts, "", 1);

	for (size_t i = 0; r == 0 && i < s->n_order; i++)
		r = write_type(s, type_of(s, s->order[i]));
	return r;
}

static int put_together(const struct selection *s, void **ret, size_t *ret_n)
{
	struct btf_header head = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(head),
		.type_len = (uint32_t)s->types.n,
		.str_off = (uint32_t)s->types.n,
		.str_len = (uint32_t)s->texts.n,
	};
	struct buffer all = {};

	if (append(&all, &head, sizeof(head)) < 0 || append(&all, s->types.bytes, s->types.n) < 0 ||
	    append(&all, s->texts.bytes, s->texts.n) < 0) {
		free(all.bytes);
		return -ENOMEM;
	}
	*ret = all.bytes;
	*ret_n = all.n;
	return 0;
}

static void selection_done(struct selection *s)
{
	free(s->places);
	free(s->kept);
	free(s->order);
	free(s->types.bytes);
	free(s->texts.bytes);
}

int small_btf_make(const struct btf_view *kernel, const struct btf_view *program, void **ret,
		   size_t *ret_n)
{
	_cleanup_(selection_done) struct selection s = { .kernel = kernel };
	int r = add_names(&s.names, program);

	if (r == 0)
		r = find_places(&s);
	if (r == 0)
		r = keep_named(&s);
	if (r == 0)
		r = write_types(&s);
	return r < 0 ? r : put_together(&s, ret, ret_n);
}
