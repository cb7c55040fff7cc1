/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout is that of Go's package internal/abi and cmd/link: a header, then among others the
 * names, and a list of functions. An entry has the offset of its code, and of its description in
 * the list's part; the last entry has the end of the code alone.
 */
#include "common/elf/go-code.h"

#include <endian.h>
#include <string.h>

#include "common/util/macro.h"

#define MAGIC_1_18  0xfffffff0u
#define MAGIC_1_20  0xfffffff1u
#define ADDRESS_AT  7 /* the size of an address */
#define COUNT_AT    8
#define CODE_AT     24
#define NAMES_AT    32
#define LIST_AT     64
#define HEADER_SIZE 72
#define ENTRY_SIZE  8
#define NAME_AT     4 /* in a description */

struct table {
	const uint8_t *bytes;
	size_t n;
	uint64_t code, names, list;
};

static bool read_u32(const struct table *t, uint64_t at, uint32_t *ret)
{
	uint32_t value;

	if (t->n < sizeof(value) || at > t->n - sizeof(value))
		return false;
	memcpy(&value, t->bytes + at, sizeof(value));
	*ret = le32toh(value);
	return true;
}

static uint64_t header_word(const struct table *t, size_t at)
{
	uint64_t value;

	memcpy(&value, t->bytes + at, sizeof(value));
	return le64toh(value);
}

static bool has_name(const struct table *t, uint64_t at, const char *name)
{
	size_t n = strlen(name) + 1;

	return at < t->n && n <= t->n - at && !memcmp(t->bytes + at, name, n);
}

static bool is_first(const struct table *t, uint64_t name)
{
	static const char *const names[] = { "runtime.goexit", "runtime.mstart", "runtime.rt0_go" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (has_name(t, name, names[i]))
			return true;
	return false;
}

/* The function number @i. */
static bool add(const struct table *t, uint64_t i, struct go_code *ret)
{
	uint64_t at = t->list + i * ENTRY_SIZE;
	uint32_t start, end, description, name;

	if (!read_u32(t, at, &start) || !read_u32(t, at + 4, &description) ||
	    !read_u32(t, at + ENTRY_SIZE, &end) || start >= end ||
	    !read_u32(t, t->list + description + NAME_AT, &name))
		return false;
	if (i == 0)
		ret->all.start = t->code + start;
	else if (t->code + start != ret->all.end)
		return false;
	ret->all.end = t->code + end;
	if (is_first(t, t->names + name) && ret->n_first < GO_CODE_MAX_FIRST)
		ret->first[ret->n_first++] = (struct go_range){ t->code + start, t->code + end };
	return true;
}

bool go_code_read(struct elf_image *image, struct go_code *ret)
{
	struct table t = {};
	uint64_t n;
	uint32_t magic;

	*ret = (struct go_code){};
	t.bytes = elf_image_bytes(image, elf_image_find_name(image, ".gopclntab"), &t.n);
	if (!t.bytes || t.n < HEADER_SIZE || !read_u32(&t, 0, &magic) ||
	    (magic != MAGIC_1_18 && magic != MAGIC_1_20) || t.bytes[ADDRESS_AT] != 8)
		return false;
	n = header_word(&t, COUNT_AT);
	t.code = header_word(&t, CODE_AT);
	t.names = header_word(&t, NAMES_AT);
	t.list = header_word(&t, LIST_AT);
	if (n == 0 || n > t.n / ENTRY_SIZE || t.names > t.n || t.list > t.n || t.code == 0 ||
	    t.code > INT64_MAX)
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!add(&t, i, ret))
			return false;
	return true;
}
