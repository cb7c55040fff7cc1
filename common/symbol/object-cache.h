/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache of objects: the file and the symbols of each, or the reason why there are none, and the
 * symbol cache, which has the symbols used so far.
 *
 * A file is searched for once. A missing file is searched for again after each
 * object_cache_shrink(). When there is too much data, the least recently used goes first, symbols
 * before symbol caches. It goes only when the owner says so, because names are borrowed from here.
 */
#pragma once

#include <stdbool.h>

#include "common/object/symbol-table.h"
#include "common/parser/parser.h"
#include "common/profile/profile.h"
#include "common/symbol/line-cache.h"
#include "common/symbol/symbol-cache.h"
#include "common/symbol/symbolizer-types.h"
#include "common/unwind/table.h"
#include "common/util/macro.h"

struct cached_object {
	const char *path;
	const char *why;              /* why it has no symbols; NULL if it has, or may have */
	struct parser_file *file;     /* NULL for the kernel and modules, or if not found */
	struct symbol_table *symbols; /* of the kernel and modules */
	struct symbol_cache symbol_cache;
	unsigned int n_around; /* how often a neighbourhood was asked for */
	struct line_cache line_cache;
	struct unwind_table unwind;
	bool knows_unwind; /* it was asked for */
	bool has_unwind;   /* and was read, with or without rows */
};

struct object_cache;

int object_cache_new(struct object_cache **ret, const struct symbolizer_settings *settings);
struct object_cache *object_cache_free(struct object_cache *cache);
DEFINE_CLEANUP(struct object_cache *, object_cache_free);

/* *@ret is borrowed until object_cache_shrink(). 0, with or without symbols; or -ENOMEM. */
int object_cache_get(struct object_cache *cache, const struct profile_object *object,
		     struct cached_object **ret);

/* An object that is in the cache, possibly without its symbols by now; or NULL. */
struct cached_object *object_cache_find(struct object_cache *cache,
					const struct profile_object *object);

/*
 * Forgets what files of JIT compilers said that have changed since, as they do while their program
 * runs. Nothing that was borrowed is valid afterwards.
 */
void object_cache_forget_changed(struct object_cache *cache);

/* Lines of files of JIT compilers that name no function, counted whenever a file was read. */
uint64_t object_cache_malformed(const struct object_cache *cache);

/* The memory that symbols and symbol caches take. */
size_t object_cache_bytes(const struct object_cache *cache);

/* Borrowed. */
struct parser *object_cache_parser(const struct object_cache *cache);

/* The path where the file of @object was found, for messages. */
const char *object_cache_file_name(const struct cached_object *object);

/*
 * The object has no symbols from now on, for the reason @why of the negative errno @r; if that is
 * -EREMOTEIO, the path of its file is put before it. It is not tried again, unless no parser could
 * be reached. 0 or -ENOMEM.
 */
int object_cache_fail(struct object_cache *cache, struct cached_object *object, int r,
		      const struct fault *why);

/*
 * Drops symbols until the cache takes at most @max_bytes or none are left: the least recently used
 * first, those of the kernel last. object_cache_get() reads them again.
 */
void object_cache_drop_symbols(struct object_cache *cache, size_t max_bytes);

/*
 * Drops symbols, then whole objects, until at most @max_bytes and @max objects are left. Closes
 * files that nobody has asked for since the last call, if they were removed, or for ten minutes.
 */
void object_cache_shrink(struct object_cache *cache, size_t max_bytes, size_t max);

/* Calls @handler for each cached object without symbols. */
void object_cache_for_each_problem(const struct object_cache *cache,
				   symbolizer_problem_handler handler, void *userdata);

/* The same, for those only whose parser failed: they are not tried again. */
void object_cache_for_each_failure(const struct object_cache *cache,
				   symbolizer_problem_handler handler, void *userdata);
