/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table by the keys of objects, see profile.h.
 *
 * Files in use stay open, at most MAX_OPEN of them; one that was closed is found again on demand.
 */
#include "common/symbol/object-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/symbol/failures.h"
#include "common/symbol/finder.h"
#include "common/symbol/jit-file.h"
#include "common/symbol/kallsyms.h"
#include "common/symbol/vdso.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/fault.h"
#include "common/util/file-identity.h"

#define MAX_OPEN 200 /* two descriptors each */

/* A file that nobody asks for keeps its file system mounted; one that was removed, its space. */
#define MAX_AGE_US 600000000

struct cached {
	struct cached_object object;
	UT_hash_handle hh;
	char *path;
	char *why;
	char *found_at;  /* the path of its file, or NULL */
	bool may_appear; /* its file is missing, but may appear later */
	bool failed;     /* its parser did */
	bool closed;     /* its file was found, and closed to make room */
	bool is_jit;     /* it has the names of a JIT compiler, from a file as it was then: */
	struct file_identity read_as;
	uint64_t used;
	uint64_t used_us; /* to within a call of object_cache_shrink() */
	uint8_t key[];
};

struct object_cache {
	struct symbolizer_settings settings;
	char *symfs, *debug_dir, *home;
	struct kallsyms *kallsyms;
	struct failures *failures;
	struct cached *objects;
	uint64_t n_uses, n_uses_before; /* the last call of object_cache_shrink() */
	uint64_t n_malformed;           /* lines of files of JIT compilers */
};

static int copy_string(char **ret, const char *s)
{
	char *copy;

	if (!s)
		return 0;
	copy = strdup(s);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int object_cache_new(struct object_cache **ret, const struct symbolizer_settings *settings)
{
	_cleanup_(object_cache_freep) struct object_cache *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->settings = *settings;
	c->settings.symfs = c->settings.debug_dir = c->settings.home = c->settings.kallsyms = NULL;
	r = copy_string(&c->symfs, settings->symfs);
	if (!r)
		r = copy_string(&c->debug_dir, settings->debug_dir);
	if (!r)
		r = copy_string(&c->home, settings->home);
	if (!r)
		r = kallsyms_new(&c->kallsyms, settings->kallsyms, settings->open_kallsyms,
				 settings->userdata);
	if (r < 0)
		return r;
	r = failures_new(&c->failures);
	if (r < 0)
		return r;
	c->settings.failures = c->failures;
	c->settings.symfs = c->symfs;
	c->settings.debug_dir = c->debug_dir;
	c->settings.home = c->home;
	*ret = TAKE_PTR(c);
	return 0;
}

static void drop_symbols(struct cached *c)
{
	c->closed |= c->object.file != NULL;
	c->object.file = parser_file_free(c->object.file);
	c->object.symbols = symbol_table_free(c->object.symbols);
}

static void free_cached(struct cached *c)
{
	line_cache_done(&c->object.line_cache);
	drop_symbols(c);
	symbol_cache_done(&c->object.symbol_cache);
	unwind_table_done(&c->object.unwind);
	free(c->why);
	free(c->found_at);
	free(c->path);
	free(c);
}

struct object_cache *object_cache_free(struct object_cache *cache)
{
	struct cached *c, *next;

	if (!cache)
		return NULL;
	HASH_ITER(hh, cache->objects, c, next) {
		HASH_DEL(cache->objects, c);
		free_cached(c);
	}
	kallsyms_free(cache->kallsyms);
	failures_free(cache->failures);
	free(cache->debug_dir);
	free(cache->home);
	free(cache->symfs);
	free(cache);
	return NULL;
}

/* Writes the key at @key (or nowhere) and returns its size. */
static size_t make_key(const struct profile_object *o, uint8_t *key)
{
	struct {
		uint8_t kind, n_build_id, untrusted;
		uint8_t build_id[PROFILE_BUILD_ID_MAX];
		uint32_t major, minor;
		uint64_t inode, ctime_ns;
	} head;
	size_t n_path = o->n_build_id ? 0 : strlen(o->path);

	memset(&head, 0, sizeof(head));
	head.kind = (uint8_t)o->kind;
	head.n_build_id = o->n_build_id;
	memcpy(head.build_id, o->build_id, o->n_build_id);
	head.untrusted = o->untrusted;
	if (!o->n_build_id || o->untrusted) {
		head.major = o->major;
		head.minor = o->minor;
		head.inode = o->inode;
		head.ctime_ns = o->ctime_ns;
	}
	if (key) {
		memcpy(key, &head, sizeof(head));
		memcpy(key + sizeof(head), o->path, n_path);
	}
	return sizeof(head) + n_path;
}

static bool is_any(const struct cached *c)
{
	return true;
}

static bool has_symbols(const struct cached *c)
{
	return c->object.symbols || c->object.file;
}

/* The kernel's symbols cost the most to read again and are needed the most often. */
static bool has_symbols_of_file(const struct cached *c)
{
	return c->object.file;
}

/* The least recently used object that @fits, or NULL. */
static struct cached *find_oldest(const struct object_cache *cache,
				  bool (*fits)(const struct cached *c))
{
	struct cached *oldest = NULL;

	for (struct cached *c = cache->objects; c; c = c->hh.next)
		if (fits(c) && (!oldest || c->used < oldest->used))
			oldest = c;
	return oldest;
}

static void make_room(struct object_cache *cache)
{
	size_t n = 0;

	for (struct cached *c = cache->objects; c; c = c->hh.next)
		n += c->object.file != NULL;
	for (; n >= MAX_OPEN; n--)
		drop_symbols(find_oldest(cache, has_symbols_of_file));
}

static int open_jit(struct object_cache *cache, const struct profile_object *o, struct cached *c,
		    struct fault *why)
{
	struct cached_object *object = &c->object;
	int r;

	c->is_jit = true;
	r = jit_file_open(&cache->settings, o, &object->file, &c->found_at, &c->read_as, why);
	if (r >= 0)
		cache->n_malformed += parser_file_identity(object->file)->n_malformed;
	return r;
}

uint64_t object_cache_malformed(const struct object_cache *cache)
{
	return cache->n_malformed;
}

/* As they were kept, or else as the kernel has them, to be kept. */
static int read_kernel(struct object_cache *cache, const struct profile_object *o,
		       struct symbol_table **ret, struct fault *why)
{
	const struct symbol_keeper *keeper = &cache->settings.keeper;
	bool is_kept = keeper->load && o->n_build_id > 0;
	int r = is_kept ? keeper->load(o, ret, keeper->userdata) : 0;

	if (r != 0)
		return MIN(r, 0);
	r = kallsyms_read_object(cache->kallsyms, o, ret, why);
	if (r >= 0 && is_kept)
		keeper->save(o, *ret, keeper->userdata);
	return r;
}

/* 0; -ENOMEM; or another negative errno and @why. */
static int read_object(struct object_cache *cache, const struct profile_object *o, struct cached *c,
		       struct fault *why)
{
	switch (o->kind) {
	case OBJECT_KERNEL:
		return read_kernel(cache, o, &c->object.symbols, why);
	case OBJECT_MODULE:
		return kallsyms_read_object(cache->kallsyms, o, &c->object.symbols, why);
	case OBJECT_FILE:
		return finder_open_object(&cache->settings, o, &c->object.file, &c->found_at, why);
	case OBJECT_VDSO:
		return vdso_open(cache->settings.parser, o, &c->object.file, why);
	default:
		return open_jit(cache, o, c, why);
	}
}

/* 0 with symbols, or with the reason in @c->why; or -ENOMEM. */
static int read_symbols(struct object_cache *cache, const struct profile_object *o,
			struct cached *c)
{
	struct fault why = { .text = "" };
	int r;

	free(TAKE_PTR(c->found_at));
	free(TAKE_PTR(c->why));
	make_room(cache);
	r = read_object(cache, o, c, &why);
	if (r < 0 && r != -ENOMEM && copy_string(&c->why, why.text) < 0)
		return -ENOMEM;
	c->object.why = c->why;
	c->may_appear = c->why && (o->kind == OBJECT_FILE || c->is_jit) && r != -EREMOTEIO;
	c->failed = r == -EREMOTEIO;
	c->closed = false;
	return r == -ENOMEM ? r : 0;
}

static int add_cached(struct object_cache *cache, const struct profile_object *o,
		      struct cached **ret)
{
	size_t n = make_key(o, NULL);
	struct cached *c = calloc(1, sizeof(*c) + n);
	int r;

	if (!c)
		return -ENOMEM;
	make_key(o, c->key);
	r = copy_string(&c->path, o->path);
	if (!r)
		r = read_symbols(cache, o, c);
	if (!r) {
		HASH_ADD(hh, cache->objects, key, n, c);
		r = c->hh.tbl ? 0 : -ENOMEM;
	}
	if (r < 0) {
		free_cached(c);
		return r;
	}
	c->object.path = c->path;
	*ret = c;
	return 0;
}

/* 0 and *@ret, which is NULL if it is not in the cache; or -ENOMEM. */
static int find_cached(struct object_cache *cache, const struct profile_object *o,
		       struct cached **ret)
{
	uint8_t room[512];
	size_t n = make_key(o, NULL);
	uint8_t *key = n <= sizeof(room) ? room : malloc(n);

	if (!key)
		return -ENOMEM;
	make_key(o, key);
	HASH_FIND(hh, cache->objects, key, n, *ret);
	if (key != room)
		free(key);
	if (*ret)
		(*ret)->used = ++cache->n_uses;
	return 0;
}

int object_cache_get(struct object_cache *cache, const struct profile_object *o,
		     struct cached_object **ret)
{
	struct cached *c;
	int r = find_cached(cache, o, &c);

	if (!r && !c)
		r = add_cached(cache, o, &c);
	else if (!r && !has_symbols(c) && (!c->object.why || c->closed))
		r = read_symbols(cache, o, c);
	if (r < 0)
		return r;
	c->used = ++cache->n_uses;
	*ret = &c->object;
	return 0;
}

struct cached_object *object_cache_find(struct object_cache *cache, const struct profile_object *o)
{
	struct cached *c;

	return find_cached(cache, o, &c) < 0 || !c ? NULL : &c->object;
}

struct parser *object_cache_parser(const struct object_cache *cache)
{
	return cache->settings.parser;
}

const char *object_cache_file_name(const struct cached_object *object)
{
	/* NOLINTNEXTLINE: it is the first member of one */
	const struct cached *c = (const struct cached *)object;

	return c->found_at ?: "the vDSO";
}

int object_cache_fail(struct object_cache *cache, struct cached_object *object, int r,
		      const struct fault *why)
{
	/* NOLINTNEXTLINE: it is the first member of one */
	struct cached *c = (struct cached *)object;
	struct fault named = *why;

	if (r == -EREMOTEIO && object->file)
		failures_add(cache->failures, parser_file_fd(object->file), why->text);
	if (c->why)
		return 0;
	if (r == -EREMOTEIO)
		fault_set(&named, r, "%s: %s", object_cache_file_name(object), why->text);
	c->object.why = c->why = strdup(named.text);
	c->may_appear = r == -ECONNREFUSED;
	c->failed = r == -EREMOTEIO;
	return c->why ? 0 : -ENOMEM;
}

static bool has_changed(const struct cached *c)
{
	struct file_identity now;
	struct stat st;

	if (!c->is_jit || (!c->object.file && !c->closed))
		return false;
	if (!c->object.file || fstat(parser_file_fd(c->object.file), &st) < 0)
		return true;
	file_identity_fill(&now, &st, true);
	return !file_identity_equal(&now, &c->read_as);
}

void object_cache_forget_changed(struct object_cache *cache)
{
	struct cached *c, *next;

	HASH_ITER(hh, cache->objects, c, next) {
		if (!has_changed(c))
			continue;
		HASH_DEL(cache->objects, c);
		free_cached(c);
	}
}

static size_t size_of(const struct cached *c)
{
	return sizeof(*c) + symbol_cache_bytes(&c->object.symbol_cache) +
	       unwind_table_bytes(&c->object.unwind) +
	       (c->object.file ? parser_file_bytes(c->object.file) : 0) +
	       (c->object.symbols ? symbol_table_bytes(c->object.symbols) : 0);
}

size_t object_cache_bytes(const struct object_cache *cache)
{
	size_t bytes = 0;

	for (const struct cached *c = cache->objects; c; c = c->hh.next)
		bytes += size_of(c);
	return bytes;
}

void object_cache_drop_symbols(struct object_cache *cache, size_t max_bytes)
{
	size_t bytes = object_cache_bytes(cache);
	struct cached *c;

	kallsyms_forget(cache->kallsyms);
	while (bytes > max_bytes) {
		c = find_oldest(cache, has_symbols_of_file) ?: find_oldest(cache, has_symbols);
		if (!c)
			break;
		bytes -= size_of(c);
		drop_symbols(c);
		bytes += size_of(c);
	}
}

/* Another process that maps a missing file may give access to it. */
static void seek_missing_again(struct object_cache *cache)
{
	for (struct cached *c = cache->objects; c; c = c->hh.next)
		if (c->may_appear)
			c->object.why = NULL;
}

static bool is_removed(const struct cached *c)
{
	struct stat st;

	return fstat(parser_file_fd(c->object.file), &st) < 0 || st.st_nlink == 0;
}

static void close_unused(struct object_cache *cache)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	for (struct cached *c = cache->objects; c; c = c->hh.next) {
		if (c->used > cache->n_uses_before)
			c->used_us = now;
		else if (c->object.file && (now - c->used_us > MAX_AGE_US || is_removed(c)))
			drop_symbols(c);
	}
	cache->n_uses_before = cache->n_uses;
}

void object_cache_shrink(struct object_cache *cache, size_t max_bytes, size_t max)
{
	size_t bytes, n = HASH_COUNT(cache->objects);

	seek_missing_again(cache);
	close_unused(cache);
	object_cache_drop_symbols(cache, max_bytes);
	bytes = object_cache_bytes(cache);
	while (n && (bytes > max_bytes || n > max)) {
		struct cached *c = find_oldest(cache, is_any);

		bytes -= size_of(c);
		n--;
		HASH_DEL(cache->objects, c);
		free_cached(c);
	}
}

void object_cache_for_each_problem(const struct object_cache *cache,
				   symbolizer_problem_handler handler, void *userdata)
{
	for (const struct cached *c = cache->objects; c; c = c->hh.next)
		if (c->why)
			handler(c->path, c->why, userdata);
}

void object_cache_for_each_failure(const struct object_cache *cache,
				   symbolizer_problem_handler handler, void *userdata)
{
	for (const struct cached *c = cache->objects; c; c = c->hh.next)
		if (c->why && c->failed)
			handler(c->path, c->why, userdata);
}
