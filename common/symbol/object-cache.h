/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects asked for: of each its file and symbols, or the reason why there are none.
 *
 * Each is sought once. What has not been used for longest goes when there is too much, but only
 * when the owner says so, for names are borrowed from here.
 */
#pragma once

#include <stdbool.h>

#include "common/profile/profile.h"
#include "common/symbol/elf-file.h"
#include "common/symbol/symbol-table.h"
#include "common/symbol/symbolizer.h"
#include "common/util/macro.h"

struct cached_object {
	const char *path;
	const char *why;              /* in words; NULL where there are symbols */
	struct elf_file *file;        /* NULL of kernel and modules, and where it was not found */
	struct symbol_table *symbols; /* NULL where there are none */
	struct lines *lines;          /* NULL before object_cache_seek_lines(), and without any */
};

struct object_cache;

int object_cache_new(struct object_cache **ret, const struct symbolizer_settings *settings);
struct object_cache *object_cache_free(struct object_cache *cache);
DEFINE_CLEANUP(struct object_cache *, object_cache_free);

/* Borrowed until object_cache_shrink(). 0, whether or not it has symbols; or -ENOMEM. */
int object_cache_get(struct object_cache *cache, const struct profile_object *object,
		     struct cached_object **ret);

/* Opens the lines of an object, once. 0, whether or not there are any; or -ENOMEM. */
int object_cache_seek_lines(struct object_cache *cache, const struct profile_object *object,
			    struct cached_object *cached);

/* Forgets what was used least lately, down to some @max_bytes and @max objects. */
void object_cache_shrink(struct object_cache *cache, size_t max_bytes, size_t max);

/* Those that were asked for and have no symbols. */
void object_cache_for_each_problem(const struct object_cache *cache, symbolizer_handler handler,
				   void *userdata);
