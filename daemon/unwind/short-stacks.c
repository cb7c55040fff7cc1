/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/short-stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/compare.h"
#include "common/util/macro.h"

void short_stacks_init(struct short_stacks *stacks)
{
	*stacks = (struct short_stacks){};
	pthread_mutex_init(&stacks->lock, NULL);
}

void short_stacks_done(struct short_stacks *stacks)
{
	pthread_mutex_destroy(&stacks->lock);
}

/* That of @path, or the one that makes room for it. */
static struct short_stacks_object *find_place(struct short_stacks *stacks, const char *path)
{
	struct short_stacks_object *objects = stacks->objects, *fewest = objects;
	size_t max = sizeof(objects->path) - 1;

	for (size_t i = 0; i < stacks->n; i++) {
		if (strncmp(objects[i].path, path, max) == 0)
			return &objects[i];
		if (objects[i].n < fewest->n)
			fewest = &objects[i];
	}
	if (stacks->n < SHORT_STACKS_PLACES)
		fewest = &objects[stacks->n++];
	snprintf(fewest->path, sizeof(fewest->path), "%s", path);
	return fewest;
}

void short_stacks_add(struct short_stacks *stacks, const struct profile_object *object,
		      bool no_table)
{
	struct short_stacks_object *place;

	pthread_mutex_lock(&stacks->lock);
	place = find_place(stacks, object->path);
	place->n++;
	place->n_no_table += no_table;
	pthread_mutex_unlock(&stacks->lock);
}

static int compare_most_first(const void *x, const void *y)
{
	const struct short_stacks_object *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(b->n, a->n));
	return strcmp(a->path, b->path);
}

size_t short_stacks_get(struct short_stacks *stacks,
			struct short_stacks_object ret[static SHORT_STACKS_SHOWN])
{
	size_t n;

	pthread_mutex_lock(&stacks->lock);
	qsort(stacks->objects, stacks->n, sizeof(*stacks->objects), compare_most_first);
	n = MIN(stacks->n, (size_t)SHORT_STACKS_SHOWN);
	memcpy(ret, stacks->objects, n * sizeof(*ret));
	pthread_mutex_unlock(&stacks->lock);
	return n;
}
