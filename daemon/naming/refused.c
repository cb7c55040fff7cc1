/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/refused.h"

#include <stdio.h>
#include <string.h>

void refused_init(struct refused *refused)
{
	refused->n = 0;
	pthread_mutex_init(&refused->lock, NULL);
}

void refused_done(struct refused *refused)
{
	pthread_mutex_destroy(&refused->lock);
}

void refused_begin(struct refused *refused)
{
	pthread_mutex_lock(&refused->lock);
	refused->n = 0;
}

void refused_add(struct refused *refused, const char *path, const char *reason)
{
	struct refused_object *object = &refused->objects[refused->n];
	size_t n = strlen(path);

	if (refused->n == REFUSED_MAX)
		return;
	if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	snprintf(object->path, sizeof(object->path), "%s", path);
	snprintf(object->reason, sizeof(object->reason), "%s", reason);
	refused->n++;
}

void refused_end(struct refused *refused)
{
	pthread_mutex_unlock(&refused->lock);
}

void refused_for_each(struct refused *refused,
		      void (*handler)(const char *path, const char *reason, void *userdata),
		      void *userdata)
{
	pthread_mutex_lock(&refused->lock);
	for (size_t i = 0; i < refused->n; i++)
		handler(refused->objects[i].path, refused->objects[i].reason, userdata);
	pthread_mutex_unlock(&refused->lock);
}
