/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	char text[];
};

struct strings {
	struct entry *entries;
};

int strings_new(struct strings **ret)
{
	struct strings *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*ret = s;
	return 0;
}

struct strings *strings_free(struct strings *strings)
{
	struct entry *e, *next;

	if (!strings)
		return NULL;
	HASH_ITER(hh, strings->entries, e, next) {
		HASH_DEL(strings->entries, e);
		free(e);
	}
	free(strings);
	return NULL;
}

const char *strings_intern(struct strings *strings, const char *s)
{
	size_t n = strlen(s);
	struct entry *e;

	HASH_FIND(hh, strings->entries, s, n, e);
	if (e)
		return e->text;
	e = malloc(sizeof(*e) + n + 1);
	if (!e)
		return NULL;
	memcpy(e->text, s, n + 1);
	HASH_ADD_KEYPTR(hh, strings->entries, e->text, n, e);
	if (!e->hh.tbl) { /* what uthash does when it finds no memory */
		free(e);
		return NULL;
	}
	return e->text;
}
