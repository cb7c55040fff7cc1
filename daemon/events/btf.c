/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/events/btf.h"

#include <errno.h>
#include <stdbool.h>

/* Of what follows a type, in bytes; -1: the kind is unknown. */
static int64_t n_tail(const struct btf_type *type)
{
	const int64_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * (int64_t)sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static bool lies_in(uint64_t at, uint64_t n, uint64_t n_all)
{
	return at <= n_all && n <= n_all - at;
}

int btf_view_init(struct btf_view *ret, const void *bytes, size_t n)
{
	const struct btf_header *head = bytes;

	if (n < sizeof(*head) || head->magic != BTF_MAGIC || head->hdr_len > n ||
	    head->type_off % sizeof(uint32_t) != 0 || head->hdr_len % sizeof(uint32_t) != 0 ||
	    !lies_in(head->type_off, head->type_len, n - head->hdr_len) ||
	    !lies_in(head->str_off, head->str_len, n - head->hdr_len) || head->str_len == 0)
		return -EBADMSG;
	*ret = (struct btf_view){
		.types = (const char *)bytes + head->hdr_len + head->type_off,
		.names = (const char *)bytes + head->hdr_len + head->str_off,
		.n_types = head->type_len,
		.n_names = head->str_len,
	};
	return ret->names[ret->n_names - 1] == '\0' ? 0 : -EBADMSG;
}

const struct btf_type *btf_view_type(const struct btf_view *view, uint32_t at, uint32_t *ret_next)
{
	const struct btf_type *type = (const void *)(view->types + at);
	int64_t n;

	if (!lies_in(at, sizeof(*type), view->n_types))
		return NULL;
	n = n_tail(type);
	if (n < 0 || !lies_in(at + sizeof(*type), (uint64_t)n, view->n_types))
		return NULL;
	*ret_next = at + (uint32_t)sizeof(*type) + (uint32_t)n;
	return type;
}

const char *btf_view_name(const struct btf_view *view, uint32_t at)
{
	return at < view->n_names ? view->names + at : "";
}
