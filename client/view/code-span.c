/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/code-span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/source/similar-names.h"
#include "client/term/text.h"
#include "client/view/object-name.h"
#include "client/view/place.h"
#include "client/view/symbol-name.h"
#include "common/profile/filter.h"
#include "common/util/cleanup.h"

#define MAX_GAP   15 /* bytes: the longest instruction, less one */
#define MAX_NAMED 4  /* choices listed in a message */
#define MAX_FOUND FUNCTION_BUILDS_MAX

struct search {
	const struct profile_source *source;
	const char *wanted, *object;
	const bool *objects; /* those that @object, if any, selects */
	const struct profile_function *found[MAX_FOUND];
	size_t n;
	int rank; /* of those found */
};

/* An exact name ranks highest, then a function, then a part that the compiler split off one. 0: no
 * match. */
static int rank_of(const struct search *search, const struct profile_function *function)
{
	if (function->object == PROFILE_NONE ||
	    (search->object && !search->objects[function->object]))
		return 0;
	if (strcmp(function->name, search->wanted) == 0)
		return 3;
	if (symbol_name_is_clone(function->name, search->wanted))
		return 1;
	if (!profile_symbol_matches(function->name, search->wanted))
		return 0;
	return strstr(function->name, " [clone ") ? 1 : 2;
}

static void add_found(struct search *search, const struct profile_function *function, int rank)
{
	if (rank > search->rank)
		search->n = 0;
	search->rank = rank;
	if (search->n < MAX_FOUND)
		search->found[search->n] = function;
	search->n++;
}

static void search_functions(struct search *search)
{
	const struct profile *p = search->source->all;

	for (size_t i = 0; i < p->n_functions; i++) {
		int rank = rank_of(search, &p->functions[i]);

		if (rank > 0 && rank >= search->rank)
			add_found(search, &p->functions[i], rank);
	}
}

/* Several matches, in the form that the user can give: " libx.so:0x1234, liby.so:0x10". */
struct choices {
	char text[384];
	size_t n, n_listed;
};

/* 0 or -ENOMEM. */
static int add_choice(struct choices *choices, const struct profile_source *source, uint32_t object,
		      uint64_t address)
{
	_cleanup_free_ char *name = object_name_format(source->all, object);
	size_t n = strlen(choices->text), room = sizeof(choices->text) - n;
	int k;

	if (!name)
		return -ENOMEM;
	choices->n++;
	if (choices->n_listed == MAX_NAMED)
		return 0;
	k = snprintf(choices->text + n, room, "%s %s:0x%" PRIx64, choices->n_listed > 0 ? "," : "",
		     name, address);
	if (k < 0 || (size_t)k >= room)
		choices->text[n] = '\0';
	else
		choices->n_listed++;
	return 0;
}

/* "work.part.0, work.cold" */
static void list_names(const struct search *search, char *ret, size_t n_bytes)
{
	size_t n = 0;

	*ret = '\0';
	for (size_t i = 0; i < MIN(search->n, (size_t)MAX_NAMED) && n < n_bytes; i++)
		n += (size_t)snprintf(ret + n, n_bytes - n, "%s%s", i > 0 ? ", " : "",
				      search->found[i]->name);
	if (search->n > MAX_NAMED && n < n_bytes)
		snprintf(ret + n, n_bytes - n, " ...");
}

static int refuse_several(const struct search *search, struct fault *fault)
{
	const struct places places = { .profile = search->source->all,
				       .symbolizer = search->source->symbolizer };
	struct choices choices = {};

	for (size_t i = 0; i < MIN(search->n, (size_t)MAX_NAMED); i++) {
		const struct profile_function *f = search->found[i];
		struct place place = place_find(&places, (struct location){ f->object, f->start });

		if (add_choice(&choices, search->source, f->object, place.address) < 0)
			return fault_set(fault, -ENOMEM, "out of memory");
	}
	if (search->rank == 1) {
		list_names(search, choices.text, sizeof(choices.text));
		return fault_set(
			fault, -EINVAL,
			"'%s' was counted only in %zu copies or parts of it; give one of %s",
			search->wanted, search->n, choices.text);
	}
	return fault_set(fault, -EINVAL, "%zu functions match '%s'; give --object, or one of%s%s",
			 search->n, search->wanted, choices.text,
			 search->n > choices.n_listed ? " ..." : "");
}

static void take_function(struct code_span *span, const struct profile_function *function)
{
	span->object = function->object;
	span->start = function->start;
	span->size = function->size;
	span->name = function->name;
}

static bool has_object(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->n_objects; i++)
		if (profile_object_matches(&profile->objects[i], name))
			return true;
	return false;
}

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static int refuse_none(const struct search *search, struct fault *fault)
{
	const struct profile *all = search->source->all;
	_cleanup_free_ char *names =
		search->object             ? NULL :
		is_pattern(search->wanted) ? similar_names_format_matching(all, search->wanted) :
					     similar_names_format(all, search->wanted);

	if (names && is_pattern(search->wanted))
		return fault_set(fault, -ENOENT,
				 "%s: '%s' is a pattern: give one function, such as %s",
				 search->source->name, search->wanted, names);
	if (names)
		return fault_set(fault, -ENOENT, "%s: no counts for a function '%s'; similar: %s",
				 search->source->name, search->wanted, names);
	return fault_set(
		fault, -ENOENT,
		"%s: no counts for a function '%s'%s%s; branchctl top -n 0 lists the functions",
		search->source->name, search->wanted, search->object ? " of " : "",
		search->object ?: "");
}

/* Whether what was found is one function, in each build of one file. */
static bool is_one_function(const struct search *search, const struct function_builds *builds)
{
	if (builds->n != search->n)
		return false;
	for (size_t i = 0; i < builds->n; i++)
		for (size_t k = 0; k < i; k++)
			if (builds->functions[i]->object == builds->functions[k]->object)
				return false;
	return true;
}

/* What the user may call @wanted, and where. */
struct question {
	const struct profile_source *source;
	const struct profile_source_settings *settings;
	const char *wanted, *object;
};

static int find_function(struct code_span *span, const struct question *question,
			 struct fault *fault)
{
	const struct profile_source *source = question->source;
	const char *wanted = question->wanted, *object = question->object;
	_cleanup_free_ bool *objects = calloc(source->all->n_objects + 1, sizeof(*objects));
	struct search search = {
		.source = source, .wanted = wanted, .object = object, .objects = objects
	};

	if (!objects || (object && profile_select_objects(source->all, object, objects) < 0))
		return fault_set(fault, -ENOMEM, "out of memory");
	search_functions(&search);
	if (search.n > 0 &&
	    function_builds_find(&span->builds, source, question->settings, search.found[0]) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (search.n > 1 && !is_one_function(&search, &span->builds))
		return refuse_several(&search, fault);
	if (search.n == 0 && has_object(source->all, wanted))
		return fault_set(fault, -ENOENT,
				 "%s: '%s' is an object; leave it out and give --object %s for its "
				 "hottest functions",
				 source->name, wanted, wanted);
	if (search.n == 0)
		return refuse_none(&search, fault);
	take_function(span, search.n > 1 ? span->builds.functions[0] : search.found[0]);
	return 0;
}

void code_span_say_builds(const struct code_span *span, FILE *f)
{
	const struct function_builds *builds = &span->builds;

	for (size_t i = 0; i < builds->n; i++)
		if (builds->functions[i]->object == span->object)
			function_builds_say(builds, builds->functions[i], f);
}

void code_span_say_clones(const struct code_span *span, const struct profile_source *source,
			  FILE *f)
{
	const struct profile *p = source->all;
	struct search clones = { .source = source };
	char names[384];

	for (size_t i = 0; span->name && i < p->n_functions; i++)
		if (p->functions[i].object == span->object &&
		    symbol_name_is_clone(p->functions[i].name, span->name))
			add_found(&clones, &p->functions[i], 1);
	if (clones.n == 0)
		return;
	list_names(&clones, names, sizeof(names));
	text_say(f, "%s has copies or parts of its own, which are not in its counts: %s",
		 span->name, names);
}

/* The colon before an address, or NULL. */
static const char *find_address(const char *wanted)
{
	const char *colon = strrchr(wanted, ':');

	return colon && colon > wanted && strncmp(colon, ":0x", 3) == 0 ? colon : NULL;
}

/* The inverse of the address in place_find(). */
static uint64_t find_offset(const struct profile_source *source,
			    const struct profile_object *object, uint64_t address)
{
	uint64_t offset;

	if (object->kind == OBJECT_KERNEL || object->kind == OBJECT_MODULE)
		return address - object->base;
	if (object->kind == OBJECT_FILE &&
	    symbolizer_offset(source->symbolizer, object, address, &offset) > 0)
		return offset;
	return address;
}

/* The ranges around @at without gaps between them. */
static void take_neighbours(struct code_span *span, const struct profile_range *ranges, size_t n,
			    uint64_t at)
{
	size_t first = 0, last;

	while (first < n && ranges[first].end < at)
		first++;
	if (first == n || ranges[first].start > at)
		return;
	for (last = first; last + 1 < n && ranges[last + 1].start - ranges[last].end <= MAX_GAP;)
		last++;
	while (first > 0 && ranges[first].start - ranges[first - 1].end <= MAX_GAP)
		first--;
	span->start = ranges[first].start;
	span->size = ranges[last].end + MAX_GAP - ranges[first].start + 1;
}

static bool has_samples(const struct profile *p, uint32_t object,
			const struct symbolizer_function *range)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (stack->frame.object == object && stack->samples > 0 &&
		    stack->frame.offset >= range->start && stack->frame.offset < range->end)
			return true;
	}
	return false;
}

/* A function without a name, as call frame information has it, if there are samples in it. */
static int take_unnamed(struct code_span *span, const struct profile_source *source,
			struct location at)
{
	const struct profile *p = source->all;
	struct symbolizer_function range;
	int r = symbolizer_function(source->symbolizer, &p->objects[at.object], at.offset, &range);

	if (r <= 0 || !has_samples(p, at.object, &range))
		return MIN(r, 0);
	span->start = range.start;
	span->size = range.end - range.start;
	return 1;
}

/* 1 if the object has counts there; 0; or -ENOMEM. */
static int find_in_object(struct code_span *span, const struct profile_source *source,
			  uint32_t object, uint64_t address)
{
	const struct profile *p = source->all;
	struct location at = { object, find_offset(source, &p->objects[object], address) };
	const struct profile_function *f = profile_find_function(p, at);
	_cleanup_free_ struct profile_range *ranges = NULL;
	size_t n;

	if (f) {
		take_function(span, f);
		return 1;
	}
	span->object = object;
	if (profile_ranges(&ranges, &n, p, object) < 0)
		return -ENOMEM;
	take_neighbours(span, ranges, n, at.offset);
	return span->size > 0 ? 1 : take_unnamed(span, source, at);
}

static int find_address_in_object(struct code_span *span, const struct profile_source *source,
				  const char *wanted, const char *colon, struct fault *fault)
{
	_cleanup_free_ char *name = strndup(wanted, (size_t)(colon - wanted));
	const struct profile *p = source->all;
	struct choices choices = {};
	char *end;
	uint64_t address;
	int r = 0;

	if (!name)
		return fault_set(fault, -ENOMEM, "out of memory");
	errno = 0;
	address = strtoull(colon + 1, &end, 16);
	if (*end != '\0' || errno != 0)
		return fault_set(fault, -EINVAL, "'%s' is not an address; give OBJECT:0xADDRESS",
				 colon + 1);
	for (uint32_t i = 0; r >= 0 && i < p->n_objects; i++) {
		struct code_span found = {};

		if (!profile_object_matches(&p->objects[i], name))
			continue;
		r = find_in_object(&found, source, i, address);
		if (r <= 0)
			continue;
		*span = found;
		r = add_choice(&choices, source, i, address);
	}
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (choices.n > 1)
		return fault_set(fault, -EINVAL, "%zu objects match '%s'; give one of%s%s",
				 choices.n, name, choices.text,
				 choices.n > choices.n_listed ? " ..." : "");
	if (choices.n == 0)
		return fault_set(fault, -ENOENT,
				 "%s: no counts at %s of an object '%s'; branchctl top --by object "
				 "-n 0 lists the objects",
				 source->name, colon + 1, name);
	return 0;
}

static int find_ranges(struct code_span *span, const struct profile_source *source)
{
	size_t n, first = 0;

	if (profile_ranges(&span->all_ranges, &n, source->all, span->object) < 0)
		return -ENOMEM;
	while (first < n && span->all_ranges[first].end < span->start)
		first++;
	span->ranges = span->all_ranges + first;
	while (first + span->n_ranges < n &&
	       (span->ranges[span->n_ranges].start < span->start ||
		span->ranges[span->n_ranges].start - span->start < span->size))
		span->n_ranges++;
	return 0;
}

int code_span_find(struct code_span *ret, const struct profile_source *source,
		   const struct profile_source_settings *settings, const char *wanted,
		   const char *object, struct fault *fault)
{
	const struct question question = { source, settings, wanted, object };
	struct code_span span = {};
	const char *colon = find_address(wanted);
	int r;

	r = colon ? find_address_in_object(&span, source, wanted, colon, fault) :
		    find_function(&span, &question, fault);
	if (r < 0)
		return r;
	if (find_ranges(&span, source) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	*ret = span;
	return 0;
}

/* The number in the whole profile of an object of the shown one; PROFILE_NONE if it has none. */
static uint32_t object_of_all(const struct profile_source *source, uint32_t shown)
{
	const struct profile_object *object = &source->shown->objects[shown];

	if (source->shown == source->all)
		return shown;
	for (size_t i = 0; i < source->all->n_objects; i++)
		if (profile_same_object(&source->all->objects[i], object))
			return (uint32_t)i;
	return PROFILE_NONE;
}

int code_span_of_function(struct code_span *ret, const struct profile_source *source,
			  struct location at)
{
	const struct profile_function *function;
	struct code_span span = {};
	int r;

	at.object = object_of_all(source, at.object);
	function = profile_find_function(source->all, at);
	if (!function)
		return -ENOENT;
	take_function(&span, function);
	r = find_ranges(&span, source);
	if (r >= 0)
		*ret = span;
	return r;
}

void code_span_done(struct code_span *span)
{
	free(span->all_ranges);
	*span = (struct code_span){};
}
