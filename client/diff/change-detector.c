/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/change-detector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/function-match.h"
#include "client/view/symbol-name.h"
#include "common/profile/filter.h"
#include "common/util/cleanup.h"
#include "common/util/strings.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define MAX_FRAMES 16          /* of inlined calls at a place */
#define MAX_BYTES  (64u << 10) /* of a function whose lines are looked at */
#define STEP       4           /* bytes: about an instruction */

struct key {
	const char *name; /* of the pool */
	uint64_t number;
};

/* The functions of one name in one thing. */
struct symbol_cache {
	struct key key;
	struct function_matches functions;
	bool decided;
	enum change change;
	UT_hash_handle hh;
};

struct change_detector {
	struct change_detector_settings settings;
	struct strings *strings;
	struct symbol_cache *known;
};

static struct symbol_cache *known_free(struct symbol_cache *known)
{
	if (!known)
		return NULL;
	function_matches_done(&known->functions);
	free(known);
	return NULL;
}

DEFINE_CLEANUP(struct symbol_cache *, known_free);

struct change_detector *change_detector_free(struct change_detector *changes)
{
	struct symbol_cache *known, *next;

	if (!changes)
		return NULL;
	HASH_ITER(hh, changes->known, known, next) {
		HASH_DEL(changes->known, known);
		known_free(known);
	}
	strings_free(changes->strings);
	free(changes);
	return NULL;
}

/* *@ret is NULL where there is none. 0 or -ENOMEM. */
static int find_known(const struct change_detector *changes, uint32_t number, const char *name,
		      struct key *ret_key, struct symbol_cache **ret)
{
	_cleanup_free_ char *stripped = symbol_name_strip(name);

	*ret_key = (struct key){ .number = number };
	ret_key->name = stripped ? strings_intern(changes->strings, stripped) : NULL;
	if (!ret_key->name)
		return -ENOMEM;
	HASH_FIND(hh, changes->known, ret_key, sizeof(*ret_key), *ret);
	return 0;
}

static int get_known(struct change_detector *changes, uint32_t number, const char *name,
		     struct symbol_cache **ret)
{
	_cleanup_(known_freep) struct symbol_cache *known = NULL;
	struct key key;
	int r = find_known(changes, number, name, &key, ret);

	if (r < 0 || *ret)
		return r;
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	known->key = key;
	HASH_ADD(hh, changes->known, key, sizeof(known->key), known);
	if (!known->hh.tbl)
		return -ENOMEM;
	*ret = TAKE_PTR(known);
	return 0;
}

static int add_side(struct change_detector *changes, enum side side)
{
	const struct profile *profile = changes->settings.sources[side]->shown;
	_cleanup_free_ uint32_t *numbers = NULL;
	struct symbol_cache *known;
	int r;

	r = object_match_number(changes->settings.pairing, side, profile, &numbers);
	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (function->object == PROFILE_NONE)
			continue;
		r = get_known(changes, numbers[function->object], function->name, &known);
		if (r >= 0)
			r = function_matches_add(&known->functions, side, function);
	}
	return r;
}

int change_detector_new(struct change_detector **ret,
			const struct change_detector_settings *settings)
{
	_cleanup_(change_detector_freep) struct change_detector *changes =
		calloc(1, sizeof(*changes));
	int r;

	if (!changes)
		return -ENOMEM;
	changes->settings = *settings;
	r = strings_new(&changes->strings);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_side(changes, side);
	if (r < 0)
		return r;
	for (struct symbol_cache *known = changes->known; known; known = known->hh.next)
		function_matches_match(&known->functions);
	*ret = TAKE_PTR(changes);
	return 0;
}

/* By what it is without the marks of a clone, or the very name of one of its clones. */
static bool matches(const struct symbol_cache *known, const char *named)
{
	if (profile_symbol_matches(known->key.name, named))
		return true;
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < known->functions.n[side]; i++)
			if (strcmp(known->functions.rows[side][i].function->name, named) == 0)
				return true;
	return false;
}

static bool is_named(const struct change_detector *changes, const struct symbol_cache *known)
{
	for (size_t i = 0; i < changes->settings.n_named; i++)
		if (matches(known, changes->settings.named[i]))
			return true;
	return false;
}

bool change_detector_knows(const struct change_detector *changes, const char *named)
{
	for (const struct symbol_cache *known = changes->known; known; known = known->hh.next)
		if (matches(known, named))
			return true;
	return false;
}

/* 1 if any line at this place was changed, 0, -ENOENT if none is of a file that is known, -errno.
 */
static int place_changed(struct change_detector *changes, enum side side,
			 const struct profile_object *object, uint64_t offset, struct fault *fault)
{
	struct symbolizer *symbolizer = changes->settings.sources[side]->symbolizer;
	struct source_frame frames[MAX_FRAMES];
	int n = symbolizer_lines(symbolizer, object, offset, frames, MAX_FRAMES), found = -ENOENT;

	for (int i = 0; i < n; i++) {
		const char *file;
		uint32_t line;
		int r;

		if (!frames[i].file || frames[i].line == 0)
			continue;
		r = line_map_find(changes->settings.map, side, frames[i].file, frames[i].line,
				  &file, &line, fault);
		if (r == 0)
			return 1;
		if (r < 0 && r != -ENOENT)
			return r;
		found = r > 0 ? 0 : found;
	}
	return n == -ENOMEM ? fault_set(fault, n, "out of memory") : found;
}

/* Of a function whose first place is of no known file nothing more is looked at. */
static int function_changed(struct change_detector *changes, enum side side,
			    const struct profile_function *function, struct fault *fault)
{
	const struct profile *profile = changes->settings.sources[side]->shown;
	const struct profile_object *object = &profile->objects[function->object];
	uint64_t size = MIN(function->size, (uint64_t)MAX_BYTES);
	int r = 0;

	for (uint64_t at = 0; r == 0 && at < size; at += STEP) {
		r = place_changed(changes, side, object, function->start + at, fault);
		if (r == -ENOENT)
			r = at == 0 ? -ENOENT : 0;
	}
	return r == -ENOENT ? 0 : r;
}

static int source_changed(struct change_detector *changes, const struct symbol_cache *known,
			  struct fault *fault)
{
	int r = 0;

	if (!changes->settings.map)
		return 0;
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; r == 0 && i < known->functions.n[side]; i++)
			r = function_changed(changes, side, known->functions.rows[side][i].function,
					     fault);
	return r;
}

int change_detector_find(struct change_detector *changes, uint32_t number, const char *name,
			 struct fault *fault)
{
	struct symbol_cache *known;
	struct key key;
	int r = find_known(changes, number, name, &key, &known);

	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (!known)
		return CHANGE_NONE;
	if (known->decided)
		return (int)known->change;
	if (is_named(changes, known)) {
		known->change = CHANGE_NAMED;
	} else {
		r = source_changed(changes, known, fault);
		if (r < 0)
			return r;
		known->change = r > 0                                       ? CHANGE_SOURCE :
				function_matches_changed(&known->functions) ? CHANGE_CODE :
									      CHANGE_NONE;
	}
	known->decided = true;
	return (int)known->change;
}

int change_detector_find_function(struct change_detector *changes, enum side side, uint32_t number,
				  const struct profile_function *function,
				  struct change_detector_function *ret, struct fault *fault)
{
	int r = change_detector_find(changes, number, function->name, fault);
	const struct function_match *namesake;
	struct symbol_cache *known;
	struct key key;

	if (r < 0)
		return r;
	ret->change = (enum change)r;
	r = find_known(changes, number, function->name, &key, &known);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	namesake = function_matches_find(&known->functions, side, function);
	ret->own = namesake->own;
	ret->other = namesake->other;
	if (ret->change == CHANGE_CODE && !namesake->changed)
		ret->change = CHANGE_NONE;
	return 0;
}

const char *change_name(enum change change)
{
	static const char *const names[] = { NULL, "named", "source", "code" };

	return names[change];
}
