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

#define MAX_FRAMES 16          /* inlined calls at an address */
#define MAX_BYTES  (64u << 10) /* of a function, whose lines are compared */
#define STEP       4           /* bytes: about an instruction */
#define N_LOADED   256         /* steps whose lines are loaded at once */

struct key {
	const char *name; /* of the pool */
	uint64_t number;
};

/* The functions of one name in one object identity. */
struct function_group {
	struct key key;
	struct function_matches functions;
	bool decided;
	enum change change;
	UT_hash_handle hh;
};

struct change_detector {
	struct change_detector_settings settings;
	struct strings *strings;
	struct function_group *groups;
};

static struct function_group *function_group_free(struct function_group *group)
{
	if (!group)
		return NULL;
	function_matches_done(&group->functions);
	free(group);
	return NULL;
}

DEFINE_CLEANUP(struct function_group *, function_group_free);

struct change_detector *change_detector_free(struct change_detector *detector)
{
	struct function_group *group, *next;

	if (!detector)
		return NULL;
	HASH_ITER(hh, detector->groups, group, next) {
		HASH_DEL(detector->groups, group);
		function_group_free(group);
	}
	strings_free(detector->strings);
	free(detector);
	return NULL;
}

/* *@ret is NULL where there is none. 0 or -ENOMEM. */
static int find_group(const struct change_detector *detector, uint32_t number, const char *name,
		      struct key *ret_key, struct function_group **ret)
{
	_cleanup_free_ char *stripped = symbol_name_strip(name);

	*ret_key = (struct key){ .number = number };
	ret_key->name = stripped ? strings_intern(detector->strings, stripped) : NULL;
	if (!ret_key->name)
		return -ENOMEM;
	HASH_FIND(hh, detector->groups, ret_key, sizeof(*ret_key), *ret);
	return 0;
}

static int get_group(struct change_detector *detector, uint32_t number, const char *name,
		     struct function_group **ret)
{
	_cleanup_(function_group_freep) struct function_group *group = NULL;
	struct key key;
	int r = find_group(detector, number, name, &key, ret);

	if (r < 0 || *ret)
		return r;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->key = key;
	HASH_ADD(hh, detector->groups, key, sizeof(group->key), group);
	if (!group->hh.tbl)
		return -ENOMEM;
	*ret = TAKE_PTR(group);
	return 0;
}

static int add_side(struct change_detector *detector, enum side side)
{
	const struct profile *profile = detector->settings.sources[side]->shown;
	_cleanup_free_ uint32_t *numbers = NULL;
	struct function_group *group;
	int r;

	r = object_match_number(detector->settings.objects, side, profile, &numbers);
	for (size_t i = 0; r >= 0 && i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (function->object == PROFILE_NONE)
			continue;
		r = get_group(detector, numbers[function->object], function->name, &group);
		if (r >= 0)
			r = function_matches_add(&group->functions, side, function);
	}
	return r;
}

int change_detector_new(struct change_detector **ret,
			const struct change_detector_settings *settings)
{
	_cleanup_(change_detector_freep) struct change_detector *detector =
		calloc(1, sizeof(*detector));
	int r;

	if (!detector)
		return -ENOMEM;
	detector->settings = *settings;
	r = strings_new(&detector->strings);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_side(detector, side);
	if (r < 0)
		return r;
	for (struct function_group *group = detector->groups; group; group = group->hh.next)
		function_matches_match(&group->functions);
	*ret = TAKE_PTR(detector);
	return 0;
}

/* @named is the name without compiler suffix, or the exact name of one of the functions. */
static bool matches(const struct function_group *group, const char *named)
{
	if (profile_symbol_matches(group->key.name, named))
		return true;
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < group->functions.n[side]; i++)
			if (strcmp(group->functions.rows[side][i].function->name, named) == 0)
				return true;
	return false;
}

static bool is_named(const struct change_detector *detector, const struct function_group *group)
{
	for (size_t i = 0; i < detector->settings.n_named; i++)
		if (matches(group, detector->settings.named[i]))
			return true;
	return false;
}

bool change_detector_has_function(const struct change_detector *detector, const char *named)
{
	for (const struct function_group *group = detector->groups; group; group = group->hh.next)
		if (matches(group, named))
			return true;
	return false;
}

/* 1 if any line at @offset was changed; 0; -ENOENT if the sources have none of the files; -errno.
 */
static int offset_changed(struct change_detector *detector, enum side side,
			  const struct profile_object *object, uint64_t offset, struct fault *fault)
{
	struct symbolizer *symbolizer = detector->settings.sources[side]->symbolizer;
	struct source_frame frames[MAX_FRAMES];
	int n = symbolizer_lines(symbolizer, object, offset, frames, MAX_FRAMES), found = -ENOENT;

	for (int i = 0; i < n; i++) {
		struct source_line line = { frames[i].file, frames[i].line }, other;
		int r;

		if (!line.file || line.number == 0)
			continue;
		r = line_map_find(detector->settings.map, side, line, &other, fault);
		if (r == 0)
			return 1;
		if (r < 0 && r != -ENOENT)
			return r;
		found = r > 0 ? 0 : found;
	}
	return n == -ENOMEM ? fault_set(fault, n, "out of memory") : found;
}

/* Loads the lines from @start on, of a part of a function; @size is what is left of it. */
static int load_lines(struct change_detector *detector, enum side side,
		      const struct profile_object *object, uint64_t start, uint64_t size)
{
	struct symbolizer *symbolizer = detector->settings.sources[side]->symbolizer;
	uint64_t offsets[N_LOADED];
	size_t n = 0;

	for (uint64_t at = 0; at < size && n < N_LOADED; at += STEP)
		offsets[n++] = start + at;
	return symbolizer_load_lines(symbolizer, object, offsets, n);
}

/* The sources must have the file of the function's start, else the function counts as unchanged. */
static int function_changed(struct change_detector *detector, enum side side,
			    const struct profile_function *function, struct fault *fault)
{
	const struct profile *profile = detector->settings.sources[side]->shown;
	const struct profile_object *object = &profile->objects[function->object];
	uint64_t size = MIN(function->size, (uint64_t)MAX_BYTES);
	int r = 0;

	for (uint64_t at = 0; r == 0 && at < size; at += STEP) {
		if (at / STEP % N_LOADED == 1) /* not before the start's file is known */
			r = load_lines(detector, side, object, function->start + at, size - at);
		if (r < 0)
			return fault_set(fault, r, "out of memory");
		r = offset_changed(detector, side, object, function->start + at, fault);
		if (r == -ENOENT)
			r = at == 0 ? -ENOENT : 0;
	}
	return r == -ENOENT ? 0 : r;
}

static int source_changed(struct change_detector *detector, const struct function_group *group,
			  struct fault *fault)
{
	int r = 0;

	if (!detector->settings.map)
		return 0;
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; r == 0 && i < group->functions.n[side]; i++)
			r = function_changed(detector, side,
					     group->functions.rows[side][i].function, fault);
	return r;
}

int change_detector_find(struct change_detector *detector, uint32_t number, const char *name,
			 struct fault *fault)
{
	struct function_group *group;
	struct key key;
	int r = find_group(detector, number, name, &key, &group);

	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (!group)
		return CHANGE_NONE;
	if (group->decided)
		return (int)group->change;
	if (is_named(detector, group)) {
		group->change = CHANGE_NAMED;
	} else {
		r = source_changed(detector, group, fault);
		if (r < 0)
			return r;
		group->change = r > 0                                       ? CHANGE_SOURCE :
				function_matches_changed(&group->functions) ? CHANGE_CODE :
									      CHANGE_NONE;
	}
	group->decided = true;
	return (int)group->change;
}

int change_detector_find_function(struct change_detector *detector, enum side side, uint32_t number,
				  const struct profile_function *function,
				  struct change_detector_function *ret, struct fault *fault)
{
	int r = change_detector_find(detector, number, function->name, fault);
	const struct function_match *match;
	struct function_group *group;
	struct key key;

	if (r < 0)
		return r;
	ret->change = (enum change)r;
	r = find_group(detector, number, function->name, &key, &group);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	match = function_matches_find(&group->functions, side, function);
	ret->own = match->own;
	ret->other = match->other;
	if (ret->change == CHANGE_CODE && !match->changed)
		ret->change = CHANGE_NONE;
	return 0;
}

const char *change_name(enum change change)
{
	static const char *const names[] = { NULL, "named", "source", "code" };

	return names[change];
}
