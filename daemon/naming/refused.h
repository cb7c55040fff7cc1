/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects that the namer could not name, because their parsers failed, and why: for status. The
 * namer fills the list anew after each window; any thread reads it.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

#define REFUSED_MAX 16

struct refused_object {
	char path[256], reason[128];
};

struct refused {
	pthread_mutex_t lock;
	struct refused_object objects[REFUSED_MAX];
	size_t n;
};

void refused_init(struct refused *refused);
void refused_done(struct refused *refused);

/* Empties the list; nobody else reads it until refused_end(). */
void refused_begin(struct refused *refused);

/* Adds an object, unless there is no room. Long texts are truncated; the path before a reason goes.
 */
void refused_add(struct refused *refused, const char *path, const char *reason);
void refused_end(struct refused *refused);

/* Calls @handler for each object. */
void refused_for_each(struct refused *refused,
		      void (*handler)(const char *path, const char *reason, void *userdata),
		      void *userdata);
