/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/object-match.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/jit-map.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/strings.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Two programs match if they have this many functions in common, and this share of the functions of
 * the smaller one. */
#define MIN_COMMON       2
#define MIN_COMMON_SHARE 0.5

/* One side's objects of one kind and path. */
struct identity {
	enum object_kind kind;
	const char *path;
	const char *stem; /* of the path: the last component without a version */
	uint64_t samples;
	uint32_t number;        /* PROFILE_NONE: none yet */
	const char **functions; /* a program's: interned names, each once, sorted by pointer */
	size_t n_functions, cap_functions;
	bool is_program;
};

/* The key to look an object up by: kind and path, or kind and build-id. */
struct identity_key {
	char *key;
	uint32_t identity;
	UT_hash_handle hh;
};

struct identities {
	const struct profile *profile;
	struct identity *rows;
	size_t n, cap;
	struct identity_key *keys;
};

struct object_match {
	struct identities sides[N_SIDES];
	struct strings *strings; /* of both sides: equal strings are equal pointers */
	uint32_t n_numbers;
};

static void identities_done(struct identities *identities)
{
	struct identity_key *found, *next;

	HASH_ITER(hh, identities->keys, found, next) {
		HASH_DEL(identities->keys, found);
		free(found->key);
		free(found);
	}
	for (size_t i = 0; i < identities->n; i++)
		free(identities->rows[i].functions);
	free(identities->rows);
}

struct object_match *object_match_free(struct object_match *match)
{
	if (!match)
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		identities_done(&match->sides[side]);
	strings_free(match->strings);
	free(match);
	return NULL;
}

static char *path_key(const struct profile_object *object)
{
	/* another process has the same functions elsewhere */
	const char *path = jit_map_pid(object) >= 0 ? "perf-PID.map" : object->path;
	char *key;

	return asprintf(&key, "%d %s", object->kind, path) < 0 ? NULL : key;
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

static const struct identity_key *find_key(const struct identities *identities, const char *key)
{
	struct identity_key *found;

	HASH_FIND_STR(identities->keys, key, found);
	return found;
}

/* Takes @key. Ignores an empty key, and one that exists. */
static int add_key(struct identities *identities, char *key, uint32_t identity)
{
	struct identity_key *found;

	if (key && (key[0] == '\0' || find_key(identities, key))) {
		free(key);
		return 0;
	}
	found = key ? calloc(1, sizeof(*found)) : NULL;
	if (!found) {
		free(key);
		return -ENOMEM;
	}
	found->key = key;
	found->identity = identity;
	HASH_ADD_KEYPTR(hh, identities->keys, found->key, strlen(found->key), found);
	if (found->hh.tbl)
		return 0;
	free(found->key);
	free(found);
	return -ENOMEM;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* "libdemo" of "/usr/lib/libdemo-1.2.so" and of "libdemo.so.1": without a version. */
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

static int64_t add_identity(struct object_match *match, struct identities *identities,
			    const struct profile_object *object)
{
	struct identity identity = {
		.kind = object->kind,
		.path = strings_intern(match->strings, object->path),
		.stem = stem_of(match->strings, object->path),
		.number = PROFILE_NONE,
	};

	if (!identity.path || !identity.stem ||
	    ARRAY_RESERVE(&identities->rows, &identities->cap, identities->n + 1) < 0)
		return -ENOMEM;
	identities->rows[identities->n] = identity;
	return (int64_t)identities->n++;
}

/* *@ret is the row of its identity, which may be new. */
static int add_object(struct object_match *match, struct identities *identities,
		      const struct profile_object *object, uint32_t *ret)
{
	_cleanup_free_ char *key = path_key(object);
	const struct identity_key *found = key ? find_key(identities, key) : NULL;
	int64_t identity;
	int r;

	if (!key)
		return -ENOMEM;
	identity = found ? found->identity : add_identity(match, identities, object);
	if (identity < 0)
		return (int)identity;
	*ret = (uint32_t)identity;
	r = add_key(identities, TAKE_PTR(key), *ret);
	return r < 0 ? r : add_key(identities, build_id_key(object), *ret);
}

/* Also programs without samples. */
static int add_programs(struct object_match *match, struct identities *identities)
{
	const struct profile *profile = identities->profile;
	uint32_t identity;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_processes; i++) {
		struct profile_object object = { .path = profile->processes[i].executable };

		if (!object.path)
			continue;
		r = add_object(match, identities, &object, &identity);
		if (r >= 0)
			identities->rows[identity].is_program = true;
	}
	return r;
}

/* Functions that say nothing, as every program has them: what surrounds main(), and stubs. */
static bool is_in_each_program(const char *name)
{
	static const char *const names[] = { "main",
					     "_start",
					     "_init",
					     "_fini",
					     "frame_dummy",
					     "register_tm_clones",
					     "deregister_tm_clones",
					     "__do_global_dtors_aux",
					     "__libc_csu_init" };
	const char *at = strrchr(name, '@');

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return at && strcmp(at, "@plt") == 0;
}

static int add_function(struct strings *strings, struct identity *identity, const char *name)
{
	if (ARRAY_RESERVE(&identity->functions, &identity->cap_functions,
			  identity->n_functions + 1) < 0)
		return -ENOMEM;
	name = strings_intern(strings, name);
	if (!name)
		return -ENOMEM;
	identity->functions[identity->n_functions++] = name;
	return 0;
}

static int compare_pointers(const void *p, const void *q)
{
	const char *a = *(const char *const *)p, *b = *(const char *const *)q;

	return COMPARE(a, b);
}

/* The names of programs' functions, each once, sorted by pointer. */
static int add_functions(struct object_match *match, struct identities *identities,
			 const uint32_t *of_object)
{
	const struct profile *profile = identities->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];
		struct identity *identity = function->object == PROFILE_NONE ?
						    NULL :
						    &identities->rows[of_object[function->object]];

		if (identity && identity->is_program && !is_in_each_program(function->name))
			r = add_function(match->strings, identity, function->name);
	}
	for (size_t i = 0; i < identities->n; i++) {
		struct identity *identity = &identities->rows[i];
		size_t n = 0;

		if (identity->n_functions > 0)
			qsort(identity->functions, identity->n_functions,
			      sizeof(*identity->functions), compare_pointers);
		for (size_t k = 0; k < identity->n_functions; k++)
			if (n == 0 || identity->functions[n - 1] != identity->functions[k])
				identity->functions[n++] = identity->functions[k];
		identity->n_functions = n;
	}
	return r;
}

static int add_side(struct object_match *match, struct identities *identities)
{
	const struct profile *profile = identities->profile;
	_cleanup_free_ uint32_t *of_object = calloc(profile->n_objects + 1, sizeof(*of_object));
	int r = of_object ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < profile->n_objects; i++)
		r = add_object(match, identities, &profile->objects[i], &of_object[i]);
	if (r < 0)
		return r;
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].frame.object != PROFILE_NONE)
			identities->rows[of_object[profile->stacks[i].frame.object]].samples +=
				profile->stacks[i].samples;
	r = add_programs(match, identities);
	return r < 0 ? r : add_functions(match, identities, of_object);
}

typedef bool (*same_identity)(const struct identity *a, const struct identity *b);

static bool same_path(const struct identity *a, const struct identity *b)
{
	return a->kind == b->kind && a->path == b->path;
}

static bool same_name(const struct identity *a, const struct identity *b)
{
	return a->kind == b->kind && strcmp(last_component(a->path), last_component(b->path)) == 0;
}

static bool same_stem(const struct identity *a, const struct identity *b)
{
	return a->kind == b->kind && a->stem == b->stem;
}

static bool same_functions(const struct identity *a, const struct identity *b)
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

static struct identity *find_partner(struct identities *identities, const struct identity *identity,
				     same_identity same)
{
	struct identity *best = NULL;

	for (size_t i = 0; i < identities->n; i++) {
		struct identity *other = &identities->rows[i];

		if (other->number == PROFILE_NONE && same(identity, other) &&
		    (!best || other->samples > best->samples))
			best = other;
	}
	return best;
}

static void pair(struct object_match *match, struct identity *a, struct identity *b)
{
	a->number = b->number = match->n_numbers++;
}

/* @order: the old side's identities, those with most samples first. */
static void pair_by(struct object_match *match, const uint32_t *order, same_identity same)
{
	struct identities *old_identities = &match->sides[SIDE_OLD];

	for (size_t i = 0; i < old_identities->n; i++) {
		struct identity *identity = &old_identities->rows[order[i]], *other;

		if (identity->number != PROFILE_NONE)
			continue;
		other = find_partner(&match->sides[SIDE_NEW], identity, same);
		if (other)
			pair(match, identity, other);
	}
}

static int pair_by_build_id(struct object_match *match)
{
	struct identities *old_identities = &match->sides[SIDE_OLD];
	const struct profile *profile = match->sides[SIDE_NEW].profile;

	for (size_t i = 0; i < profile->n_objects; i++) {
		_cleanup_free_ char *key = build_id_key(&profile->objects[i]);
		_cleanup_free_ char *path = path_key(&profile->objects[i]);
		const struct identity_key *found;
		struct identity *identity, *other;

		if (!key || !path)
			return -ENOMEM;
		found = find_key(old_identities, key);
		if (!found)
			continue;
		identity = &old_identities->rows[found->identity];
		other = &match->sides[SIDE_NEW]
				 .rows[find_key(&match->sides[SIDE_NEW], path)->identity];
		if (identity->number == PROFILE_NONE && other->number == PROFILE_NONE)
			pair(match, identity, other);
	}
	return 0;
}

static int compare_samples(const void *p, const void *q, void *userdata)
{
	const struct identities *identities = userdata;
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;

	if (identities->rows[a].samples != identities->rows[b].samples)
		return identities->rows[a].samples < identities->rows[b].samples ? 1 : -1;
	return COMPARE(a, b);
}

static uint32_t *order_by_samples(struct identities *identities)
{
	uint32_t *order = calloc(identities->n + 1, sizeof(*order));

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < identities->n; i++)
		order[i] = i;
	qsort_r(order, identities->n, sizeof(*order), compare_samples, identities);
	return order;
}

static int pair_all(struct object_match *match)
{
	_cleanup_free_ uint32_t *order = order_by_samples(&match->sides[SIDE_OLD]);
	int r;

	if (!order)
		return -ENOMEM;
	pair_by(match, order, same_path);
	r = pair_by_build_id(match);
	if (r < 0)
		return r;
	pair_by(match, order, same_name);
	pair_by(match, order, same_stem);
	pair_by(match, order, same_functions);
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < match->sides[side].n; i++)
			if (match->sides[side].rows[i].number == PROFILE_NONE)
				match->sides[side].rows[i].number = match->n_numbers++;
	return 0;
}

int object_match_new(struct object_match **ret, const struct profile *const profiles[N_SIDES])
{
	_cleanup_(object_match_freep) struct object_match *match = calloc(1, sizeof(*match));
	int r;

	if (!match)
		return -ENOMEM;
	r = strings_new(&match->strings);
	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		match->sides[side].profile = profiles[side];
		r = add_side(match, &match->sides[side]);
	}
	if (r >= 0)
		r = pair_all(match);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(match);
	return 0;
}

static int number_object(const struct identities *identities, const struct profile_object *object,
			 uint32_t *ret)
{
	_cleanup_free_ char *path = path_key(object);
	_cleanup_free_ char *build_id = build_id_key(object);
	const struct identity_key *found;

	if (!path || !build_id)
		return -ENOMEM;
	found = find_key(identities, path) ?: find_key(identities, build_id);
	*ret = found ? identities->rows[found->identity].number : PROFILE_NONE;
	return 0;
}

int object_match_number(const struct object_match *match, enum side side,
			const struct profile *profile, uint32_t **ret)
{
	_cleanup_free_ uint32_t *numbers = calloc(profile->n_objects + 1, sizeof(*numbers));
	int r = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < profile->n_objects; i++)
		r = number_object(&match->sides[side], &profile->objects[i], &numbers[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(numbers);
	return 0;
}

int64_t object_match_find_program(const struct object_match *match, enum side side,
				  const char *path)
{
	struct profile_object object = { .path = path };
	uint32_t number;
	int r = number_object(&match->sides[side], &object, &number);

	return r < 0 ? (int64_t)r : (int64_t)number;
}
