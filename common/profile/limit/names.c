/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/limit/names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

#define MIN_NAME 16

static const char dots[] = "...";

struct limiting {
	struct profile *profile;
	size_t n_bytes, max_name;
	char *buffer; /* NULL: names are only counted */
};

/* Without the rest of a character of UTF-8. */
static size_t find_cut(const char *text, size_t n)
{
	size_t cut = n;

	while (cut > n - 4 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	return cut > n - 4 ? cut : n;
}

/* Counts or truncates the name. 0 or -ENOMEM. */
static int limit_name(struct limiting *limiting, const char **name)
{
	size_t n = *name ? strlen(*name) : 0, cut;
	int r = 0;

	limiting->n_bytes += n;
	if (!limiting->buffer || n <= limiting->max_name)
		return 0;
	cut = find_cut(*name, limiting->max_name - strlen(dots));
	snprintf(limiting->buffer, limiting->max_name + 1, "%.*s%s", (int)cut, *name, dots);
	*name = profile_string(limiting->profile, limiting->buffer, &r);
	return r;
}

static bool is_chosen(const struct profile_object *object)
{
	return object->untrusted || object->kind == OBJECT_MEMORY;
}

static int limit_names(struct limiting *limiting)
{
	struct profile *p = limiting->profile;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_objects; i++)
		if (is_chosen(&p->objects[i]))
			r = limit_name(limiting, &p->objects[i].path);
	for (size_t i = 0; r == 0 && i < p->n_functions; i++)
		if (p->functions[i].object == PROFILE_NONE ||
		    is_chosen(&p->objects[p->functions[i].object]))
			r = limit_name(limiting, &p->functions[i].name);
	for (size_t i = 0; r == 0 && i < p->n_processes; i++)
		if (p->processes[i].uid != 0)
			r = limit_name(limiting, &p->processes[i].executable);
	return r;
}

int profile_limit_names(struct profile *profile, size_t max_bytes, size_t max_name)
{
	struct limiting limiting = { .profile = profile, .max_name = max_name };
	_cleanup_free_ char *buffer = NULL;
	int r;

	assert(max_name >= MIN_NAME);
	limit_names(&limiting);
	if (limiting.n_bytes <= max_bytes)
		return 0;
	limiting.buffer = buffer = malloc(max_name + 1);
	r = buffer ? limit_names(&limiting) : -ENOMEM;
	return r < 0 ? r : 1;
}
