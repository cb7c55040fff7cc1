/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds a member of a JSON object as text, for objects that are too long to be parsed twice. It
 * skips over values without checking them; their parser does.
 */
#pragma once

#include <stddef.h>

/* 1 and the value of member @name of the object @text; 0 if there is none; -EINVAL. */
int json_member_find(const char *text, size_t n_bytes, const char *name, const char **ret,
		     size_t *ret_n);
