/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects asked for: of each its file and symbols, or the reason why there are none; and the
 * little of them that was of use so far.
 *
 * Each is sought once; one whose file was not to be had, once more after each
 * object_cache_shrink(). What has not been used for longest goes when there is too much, symbols
 * before what is known, but only when the owner says so, for names are borrowed from here.
 */
#pragma once

#include <stdbool.h>

#include "common/profile/profile.h"
#include "common/symbol/elf-file.h"
#include "common/symbol/symbol-cache.h"
#include "common/symbol/symbol-table.h"
#include "common/symbol/symbolizer-types.h"
#include "common/util/macro.h"

struct cached_object {
	const char *path;
	const char *why;              /* in words; NULL where there are symbols, or may be */
	struct elf_file *file;        /* NULL of kernel and modules, and where it was not found */
	struct symbol_table *symbols; /* NULL where there are none, or they were dropped */
	struct symbol_cache known;
	struct lines *lines; /* NULL before object_cache_seek_lines(), and without any */
	struct code *code;   /* NULL before object_cache_seek_code(), and without any */
};

struct object_cache;

int object_cache_new(struct object_cache **ret, const struct symbolizer_settings *settings);
struct object_cache *object_cache_free(struct object_cache *cache);
DEFINE_CLEANUP(struct object_cache *, object_cache_free);

/* Borrowed until object_cache_shrink(). 0, whether or not it has symbols; or -ENOMEM. */
int object_cache_get(struct object_cache *cache, const struct profile_object *object,
		     struct cached_object **ret);

/* The same of an object asked for before, which may have lost its symbols; or NULL. */
struct cached_object *object_cache_find(struct object_cache *cache,
					const struct profile_object *object);

/* The memory that symbols and what is known take. */
size_t object_cache_bytes(const struct object_cache *cache);

/* Opens the lines of an object, once. 0, whether or not there are any; or -ENOMEM. */
int object_cache_seek_lines(struct object_cache *cache, const struct profile_object *object,
			    struct cached_object *cached);

/* The same of its machine code. */
int object_cache_seek_code(struct object_cache *cache, const struct profile_object *object,
			   struct cached_object *cached);

/* It is opened again when somebody asks. */
void object_cache_close_code(struct cached_object *cached);

/*
 * Drops symbols, the kernel's last and those used least lately first, until all takes at most
 * @max_bytes or none are left. They are read again when object_cache_get() asks for them.
 */
void object_cache_drop_symbols(struct object_cache *cache, size_t max_bytes);

/* That, and then forgets whole objects, down to @max_bytes and @max objects. */
void object_cache_shrink(struct object_cache *cache, size_t max_bytes, size_t max);

/* Those that were asked for and have no symbols. */
void object_cache_for_each_problem(const struct object_cache *cache,
				   symbolizer_problem_handler handler, void *userdata);
