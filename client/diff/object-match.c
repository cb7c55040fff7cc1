/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/object-match.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/strings.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Functions that two programs must have in common, and the share of the smaller one's they must be.
 */
#define MIN_COMMON       2
#define MIN_COMMON_SHARE 0.5

/* One side's objects of one kind and path. */
struct thing {
	enum object_kind kind;
	const char *path;
	const char *stem; /* of the path: the last component without a version */
	uint64_t samples;
	uint32_t number;        /* PROFILE_NONE: not given yet */
	const char **functions; /* of a program: names, each once, sorted by address */
	size_t n_functions, cap_functions;
	bool is_program;
};

/* An object as it is looked up: its kind and path, or its kind and build-id. */
struct symbol_cache {
	char *key;
	uint32_t thing;
	UT_hash_handle hh;
};

struct things {
	const struct profile *profile;
	struct thing *rows;
	size_t n, cap;
	struct symbol_cache *known;
};

struct object_match {
	struct things sides[N_SIDES];
	struct strings *strings; /* of both, so that equal ones are equal pointers */
	uint32_t n_numbers;
};

static void things_done(struct things *things)
{
	struct symbol_cache *known, *next;

	HASH_ITER(hh, things->known, known, next) {
		HASH_DEL(things->known, known);
		free(known->key);
		free(known);
	}
	for (size_t i = 0; i < things->n; i++)
		free(things->rows[i].functions);
	free(things->rows);
}

struct object_match *object_match_free(struct object_match *pairing)
{
	if (!pairing)
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		things_done(&pairing->sides[side]);
	strings_free(pairing->strings);
	free(pairing);
	return NULL;
}

static char *path_key(const struct profile_object *object)
{
	char *key;

	return asprintf(&key, "%d %s", object->kind, object->path) < 0 ? NULL : key;
}

/* "" where it has none. */
static char *build_id_key(const struct profile_object *object)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "", *key;

	if (object->n_build_id == 0)
		return strdup("");
	for (size_t i = 0; i < object->n_build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
	return asprintf(&key, "%d:%s", object->kind, hex) < 0 ? NULL : key;
}

static const struct symbol_cache *find_known(const struct things *things, const char *key)
{
	struct symbol_cache *known;

	HASH_FIND_STR(things->known, key, known);
	return known;
}

/* Takes @key, and passes over an empty one and one that is there already. */
static int add_known(struct things *things, char *key, uint32_t thing)
{
	struct symbol_cache *known;

	if (key && (key[0] == '\0' || find_known(things, key))) {
		free(key);
		return 0;
	}
	known = key ? calloc(1, sizeof(*known)) : NULL;
	if (!known) {
		free(key);
		return -ENOMEM;
	}
	known->key = key;
	known->thing = thing;
	HASH_ADD_KEYPTR(hh, things->known, known->key, strlen(known->key), known);
	if (known->hh.tbl)
		return 0;
	free(known->key);
	free(known);
	return -ENOMEM;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* "libdemo" of "/usr/lib/libdemo-1.2.so" and of "libdemo.so.1": nothing that tells a version. */
static const char *stem_of(struct strings *strings, const char *path)
{
	const char *name = last_component(path), *so = strstr(name, ".so");
	size_t n = so ? (size_t)(so - name) : strlen(name);
	_cleanup_free_ char *stem = NULL;

	while (n > 1 && strchr("0123456789.-_", name[n - 1]))
		n--;
	stem = strndup(name, n);
	return stem ? strings_intern(strings, stem) : NULL;
}

static int64_t add_thing(struct object_match *pairing, struct things *things,
			 const struct profile_object *object)
{
	struct thing thing = {
		.kind = object->kind,
		.path = strings_intern(pairing->strings, object->path),
		.stem = stem_of(pairing->strings, object->path),
		.number = PROFILE_NONE,
	};

	if (!thing.path || !thing.stem ||
	    ARRAY_RESERVE(&things->rows, &things->cap, things->n + 1) < 0)
		return -ENOMEM;
	things->rows[things->n] = thing;
	return (int64_t)things->n++;
}

/* The number of its row, new or not, in *@ret. */
static int add_object(struct object_match *pairing, struct things *things,
		      const struct profile_object *object, uint32_t *ret)
{
	_cleanup_free_ char *key = path_key(object);
	const struct symbol_cache *known = key ? find_known(things, key) : NULL;
	int64_t thing;
	int r;

	if (!key)
		return -ENOMEM;
	thing = known ? known->thing : add_thing(pairing, things, object);
	if (thing < 0)
		return (int)thing;
	*ret = (uint32_t)thing;
	r = add_known(things, TAKE_PTR(key), *ret);
	return r < 0 ? r : add_known(things, build_id_key(object), *ret);
}

/* Those that nothing was sampled in, too. */
static int add_programs(struct object_match *pairing, struct things *things)
{
	const struct profile *profile = things->profile;
	uint32_t thing;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_processes; i++) {
		struct profile_object object = { .path = profile->processes[i].executable };

		if (!object.path)
			continue;
		r = add_object(pairing, things, &object, &thing);
		if (r >= 0)
			things->rows[thing].is_program = true;
	}
	return r;
}

static int add_function(struct strings *strings, struct thing *thing, const char *name)
{
	if (ARRAY_RESERVE(&thing->functions, &thing->cap_functions, thing->n_functions + 1) < 0)
		return -ENOMEM;
	name = strings_intern(strings, name);
	if (!name)
		return -ENOMEM;
	thing->functions[thing->n_functions++] = name;
	return 0;
}

static int compare_pointers(const void *p, const void *q)
{
	const char *a = *(const char *const *)p, *b = *(const char *const *)q;

	return (a > b) - (a < b);
}

/* The names of programs' functions, each once, in the order of their pointers. */
static int add_functions(struct object_match *pairing, struct things *things,
			 const uint32_t *of_object)
{
	const struct profile *profile = things->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];
		struct thing *thing = function->object == PROFILE_NONE ?
					      NULL :
					      &things->rows[of_object[function->object]];

		if (thing && thing->is_program)
			r = add_function(pairing->strings, thing, function->name);
	}
	for (size_t i = 0; i < things->n; i++) {
		struct thing *thing = &things->rows[i];
		size_t n = 0;

		if (thing->n_functions > 0)
			qsort(thing->functions, thing->n_functions, sizeof(*thing->functions),
			      compare_pointers);
		for (size_t k = 0; k < thing->n_functions; k++)
			if (n == 0 || thing->functions[n - 1] != thing->functions[k])
				thing->functions[n++] = thing->functions[k];
		thing->n_functions = n;
	}
	return r;
}

static int add_side(struct object_match *pairing, struct things *things)
{
	const struct profile *profile = things->profile;
	_cleanup_free_ uint32_t *of_object = calloc(profile->n_objects + 1, sizeof(*of_object));
	int r = of_object ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < profile->n_objects; i++)
		r = add_object(pairing, things, &profile->objects[i], &of_object[i]);
	if (r < 0)
		return r;
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].frame.object != PROFILE_NONE)
			things->rows[of_object[profile->stacks[i].frame.object]].samples +=
				profile->stacks[i].samples;
	r = add_programs(pairing, things);
	return r < 0 ? r : add_functions(pairing, things, of_object);
}

typedef bool (*same_function)(const struct thing *a, const struct thing *b);

static bool same_path(const struct thing *a, const struct thing *b)
{
	return a->kind == b->kind && a->path == b->path;
}

static bool same_name(const struct thing *a, const struct thing *b)
{
	return a->kind == b->kind && strcmp(last_component(a->path), last_component(b->path)) == 0;
}

static bool same_stem(const struct thing *a, const struct thing *b)
{
	return a->kind == b->kind && a->stem == b->stem;
}

static bool same_functions(const struct thing *a, const struct thing *b)
{
	size_t common = 0, i = 0, k = 0, smaller = MIN(a->n_functions, b->n_functions);

	if (!a->is_program || !b->is_program)
		return false;
	while (i < a->n_functions && k < b->n_functions)
		if (a->functions[i] == b->functions[k])
			common++, i++, k++;
		else if (a->functions[i] < b->functions[k])
			i++;
		else
			k++;
	return common >= MIN_COMMON && (double)common >= MIN_COMMON_SHARE * (double)smaller;
}

static struct thing *find_partner(struct things *things, const struct thing *thing,
				  same_function same)
{
	struct thing *best = NULL;

	for (size_t i = 0; i < things->n; i++) {
		struct thing *other = &things->rows[i];

		if (other->number == PROFILE_NONE && same(thing, other) &&
		    (!best || other->samples > best->samples))
			best = other;
	}
	return best;
}

static void pair(struct object_match *pairing, struct thing *a, struct thing *b)
{
	a->number = b->number = pairing->n_numbers++;
}

/* @order: the old side's things, those with most samples first. */
static void pair_by(struct object_match *pairing, const uint32_t *order, same_function same)
{
	struct things *old_things = &pairing->sides[SIDE_OLD];

	for (size_t i = 0; i < old_things->n; i++) {
		struct thing *thing = &old_things->rows[order[i]], *other;

		if (thing->number != PROFILE_NONE)
			continue;
		other = find_partner(&pairing->sides[SIDE_NEW], thing, same);
		if (other)
			pair(pairing, thing, other);
	}
}

static int pair_by_build_id(struct object_match *pairing)
{
	struct things *old_things = &pairing->sides[SIDE_OLD];
	const struct profile *profile = pairing->sides[SIDE_NEW].profile;

	for (size_t i = 0; i < profile->n_objects; i++) {
		_cleanup_free_ char *key = build_id_key(&profile->objects[i]);
		_cleanup_free_ char *path = path_key(&profile->objects[i]);
		const struct symbol_cache *known;
		struct thing *thing, *other;

		if (!key || !path)
			return -ENOMEM;
		known = find_known(old_things, key);
		if (!known)
			continue;
		thing = &old_things->rows[known->thing];
		other = &pairing->sides[SIDE_NEW]
				 .rows[find_known(&pairing->sides[SIDE_NEW], path)->thing];
		if (thing->number == PROFILE_NONE && other->number == PROFILE_NONE)
			pair(pairing, thing, other);
	}
	return 0;
}

static int compare_samples(const void *p, const void *q, void *userdata)
{
	const struct things *things = userdata;
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;

	if (things->rows[a].samples != things->rows[b].samples)
		return things->rows[a].samples < things->rows[b].samples ? 1 : -1;
	return (a > b) - (a < b);
}

static uint32_t *order_by_samples(struct things *things)
{
	uint32_t *order = calloc(things->n + 1, sizeof(*order));

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < things->n; i++)
		order[i] = i;
	qsort_r(order, things->n, sizeof(*order), compare_samples, things);
	return order;
}

static int pair_all(struct object_match *pairing)
{
	_cleanup_free_ uint32_t *order = order_by_samples(&pairing->sides[SIDE_OLD]);
	int r;

	if (!order)
		return -ENOMEM;
	pair_by(pairing, order, same_path);
	r = pair_by_build_id(pairing);
	if (r < 0)
		return r;
	pair_by(pairing, order, same_name);
	pair_by(pairing, order, same_stem);
	pair_by(pairing, order, same_functions);
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < pairing->sides[side].n; i++)
			if (pairing->sides[side].rows[i].number == PROFILE_NONE)
				pairing->sides[side].rows[i].number = pairing->n_numbers++;
	return 0;
}

int object_match_new(struct object_match **ret, const struct profile *const profiles[N_SIDES])
{
	_cleanup_(object_match_freep) struct object_match *pairing = calloc(1, sizeof(*pairing));
	int r;

	if (!pairing)
		return -ENOMEM;
	r = strings_new(&pairing->strings);
	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		pairing->sides[side].profile = profiles[side];
		r = add_side(pairing, &pairing->sides[side]);
	}
	if (r >= 0)
		r = pair_all(pairing);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(pairing);
	return 0;
}

static int number_object(const struct things *things, const struct profile_object *object,
			 uint32_t *ret)
{
	_cleanup_free_ char *path = path_key(object);
	_cleanup_free_ char *build_id = build_id_key(object);
	const struct symbol_cache *known;

	if (!path || !build_id)
		return -ENOMEM;
	known = find_known(things, path) ?: find_known(things, build_id);
	*ret = known ? things->rows[known->thing].number : PROFILE_NONE;
	return 0;
}

int object_match_number(const struct object_match *pairing, enum side side,
			const struct profile *profile, uint32_t **ret)
{
	_cleanup_free_ uint32_t *numbers = calloc(profile->n_objects + 1, sizeof(*numbers));
	int r = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < profile->n_objects; i++)
		r = number_object(&pairing->sides[side], &profile->objects[i], &numbers[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(numbers);
	return 0;
}

int64_t object_match_find_program(const struct object_match *pairing, enum side side,
				  const char *path)
{
	struct profile_object object = { .path = path };
	uint32_t number;
	int r = number_object(&pairing->sides[side], &object, &number);

	return r < 0 ? (int64_t)r : (int64_t)number;
}
