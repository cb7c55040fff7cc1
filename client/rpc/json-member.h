/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A member of a JSON object as the text that it is: for objects too long to be parsed only to take
 * them apart. Values are passed over, not judged; that is for who parses them.
 */
#pragma once

#include <stddef.h>

/*
 * The value of the member @name of the object @text. 1 and *@ret, *@ret_n; 0 if there is none;
 * -EINVAL where @text is no object.
 */
int json_member_find(const char *text, size_t n_bytes, const char *name, const char **ret,
		     size_t *ret_n);
