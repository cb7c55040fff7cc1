/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types of a kernel or of a BPF program in the format BTF, as the bytes of its two sections. */
#pragma once

#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>

/* Both sections are borrowed. */
struct btf_view {
	const char *types, *names; /* each name with its zero byte */
	uint32_t n_types, n_names; /* bytes */
};

/* A whole BTF of @n bytes, aligned as numbers are. 0 or -EBADMSG. */
int btf_view_init(struct btf_view *ret, const void *bytes, size_t n);

/* The type at @at of the types; *@ret_next: where the next one is. NULL: no type is there, or one
 * of an unknown kind. */
const struct btf_type *btf_view_type(const struct btf_view *view, uint32_t at, uint32_t *ret_next);

/* "" if there is none. */
const char *btf_view_name(const struct btf_view *view, uint32_t at);

/* What follows a type: its members, values or whatever its kind has. */
static inline const void *btf_tail(const struct btf_type *type)
{
	return type + 1;
}
