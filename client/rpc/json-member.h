/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds members of a JSON object as text, for objects that are too long to be parsed twice. It
 * skips over values without checking them; their parser does.
 */
#pragma once

#include <stddef.h>

struct json_member {
	const char *name;
	const char *
		text; /* its value, @n_bytes long, within that of the object; NULL: there is none */
	size_t n_bytes;
};

/* Finds the @n @members of the object @text in one pass; of several of one name the first. 0 or
 * -EINVAL. */
int json_members_find(const char *text, size_t n_bytes, struct json_member *members, size_t n);
