/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/fnv.h"
#include "ship/text.h"

/* The bit of an id that tells objects of one host from all others: no build-id that somebody chose
 * makes an id of a file of root. */
#define HERE_ONLY (UINT64_C(1) << 63)

#define HOUR_US UINT64_C(3600000000)

struct seen_id {
	uint64_t id;
	UT_hash_handle hh;
};

struct names_seen {
	struct seen_id *ids;
	uint64_t hour; /* since 1970 */
};

struct names {
	const struct profile *profile;
	uint64_t *objects; /* hashes */
	bool *used;        /* functions; behind them objects as a whole; last, no object */
};

/* Its build-id tells it from all other objects of all hosts. */
static bool is_global(const struct profile_object *object)
{
	return object->n_build_id > 0 && !object->untrusted;
}

static uint64_t hash_object(const struct profile_object *object, const char *host)
{
	uint64_t hash = fnv_add(FNV_BASIS, object->build_id, object->n_build_id);

	if (is_global(object))
		return hash;
	hash = fnv_add_text(hash, host);
	hash = fnv_add_text(hash, object->path);
	hash = fnv_add_number(hash, object->major);
	hash = fnv_add_number(hash, object->minor);
	hash = fnv_add_number(hash, object->inode);
	return fnv_add_number(hash, object->ctime_ns);
}

int names_new(struct names **ret, const struct profile *profile, const char *host)
{
	_cleanup_(names_freep) struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->profile = profile;
	names->objects = calloc(profile->n_objects + 1, sizeof(*names->objects));
	names->used = calloc(profile->n_functions + profile->n_objects + 1, sizeof(*names->used));
	if (!names->objects || !names->used)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_objects; i++)
		names->objects[i] = hash_object(&profile->objects[i], host);
	*ret = TAKE_PTR(names);
	return 0;
}

struct names *names_free(struct names *names)
{
	if (!names)
		return NULL;
	free(names->objects);
	free(names->used);
	free(names);
	return NULL;
}

/* Of all of an object, where no function is known, apart from a function at its start. */
static uint64_t id_of(const struct names *names, uint32_t object,
		      const struct profile_function *function)
{
	uint64_t hash = names->objects[object];

	hash = function ? fnv_add_number(hash, function->start) : fnv_add(hash, "object", 6);
	hash &= ~HERE_ONLY;
	return is_global(&names->profile->objects[object]) ? hash : hash | HERE_ONLY;
}

struct name_place names_find(struct names *names, struct location at)
{
	const struct profile *profile = names->profile;
	const struct profile_function *function;

	if (at.object == PROFILE_NONE) {
		names->used[profile->n_functions + profile->n_objects] = true;
		return (struct name_place){ 0, at.offset };
	}
	function = profile_find_function(profile, at);
	names->used[function ? (size_t)(function - profile->functions) :
			       profile->n_functions + at.object] = true;
	return (struct name_place){ id_of(names, at.object, function),
				    at.offset - (function ? function->start : 0) };
}

int names_seen_new(struct names_seen **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void names_seen_forget(struct names_seen *seen)
{
	struct seen_id *id, *next;

	HASH_ITER(hh, seen->ids, id, next) {
		HASH_DEL(seen->ids, id);
		free(id);
	}
}

struct names_seen *names_seen_free(struct names_seen *seen)
{
	if (!seen)
		return NULL;
	names_seen_forget(seen);
	free(seen);
	return NULL;
}

/* 1: it was not there; 0; or -ENOMEM. */
static int add_seen(struct names_seen *seen, uint64_t id)
{
	struct seen_id *entry;

	HASH_FIND(hh, seen->ids, &id, sizeof(id), entry);
	if (entry)
		return 0;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->id = id;
	HASH_ADD(hh, seen->ids, id, sizeof(id), entry);
	if (entry->hh.tbl)
		return 1;
	free(entry);
	return -ENOMEM;
}

struct name {
	uint64_t id;
	const struct profile_object *object;     /* NULL: none */
	const struct profile_function *function; /* NULL: all of the object */
};

static int write_name(struct names_seen *seen, const struct name *name, FILE *f)
{
	const struct profile_object *object = name->object;
	const struct profile_function *function = name->function;
	int r = add_seen(seen, name->id);

	if (r <= 0)
		return r;
	text_put_day(f, seen->hour / 24);
	fprintf(f, "\t%" PRIu64 "\t", name->id);
	if (object)
		text_put_hex(f, object->build_id, object->n_build_id);
	fputc('\t', f);
	text_put(f, object ? object->path : NULL);
	fputc('\t', f);
	text_put(f, function ? function->name : NULL);
	fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", function ? function->start : 0,
		function ? function->size : 0);
	return 0;
}

/* The used one with that number: see struct names. */
static struct name name_of(const struct names *names, size_t at)
{
	const struct profile *profile = names->profile;
	const struct profile_function *function =
		at < profile->n_functions ? &profile->functions[at] : NULL;
	size_t object = function ? function->object : at - profile->n_functions;

	if (object == profile->n_objects)
		return (struct name){};
	return (struct name){ id_of(names, (uint32_t)object, function), &profile->objects[object],
			      function };
}

int names_write(const struct names *names, struct names_seen *seen, uint64_t start_us, FILE *f)
{
	size_t n = names->profile->n_functions + names->profile->n_objects + 1;
	int r = 0;

	if (seen->hour != start_us / HOUR_US)
		names_seen_forget(seen);
	seen->hour = start_us / HOUR_US;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct name name = name_of(names, i);

		if (names->used[i])
			r = write_name(seen, &name, f);
	}
	return r;
}
