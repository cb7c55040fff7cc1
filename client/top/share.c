/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view here only maps nodes to rows; shares.c counts. Looking up source lines is expensive, so it
 * is done once per location: nodes of the same location share their range.
 */
#include "client/top/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/stream/line-loader.h"
#include "client/view/user-name.h"
#include "common/profile/container.h"
#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define MAX_INLINED 64

/* A location whose lines were looked up. */
struct grouped_location {
	struct location at; /* the key: its padding is zero */
	struct share_range range;
	UT_hash_handle hh;
};

struct grouping {
	struct shares *shares;
	const struct profile *profile;
	struct symbolizer *symbolizer;
	bool inlined;
	struct grouped_location *grouped;
	struct share_range *ranges;
	uint32_t *groups;
	size_t n_groups, cap_groups;
	uint32_t *function_rows;            /* by function, in their own view: the row + 1 */
	char container[CONTAINER_TEXT_MAX]; /* of the key that is looked up */
};

static void grouping_done(struct grouping *grouping)
{
	struct grouped_location *grouped, *next;

	HASH_ITER(hh, grouping->grouped, grouped, next) {
		HASH_DEL(grouping->grouped, grouped);
		free(grouped);
	}
	shares_free(grouping->shares);
	free(grouping->ranges);
	free(grouping->groups);
	free(grouping->function_rows);
}

static int grouping_init(struct grouping *grouping, const struct profile *profile)
{
	*grouping = (struct grouping){ .profile = profile };
	grouping->ranges = calloc(profile->n_stacks + 1, sizeof(*grouping->ranges));
	grouping->function_rows =
		calloc(profile->n_functions + 1, sizeof(*grouping->function_rows));
	if (!grouping->ranges || !grouping->function_rows)
		return -ENOMEM;
	return shares_new(&grouping->shares);
}

/* Appends the row, or returns its error. */
static int grouping_add_row(struct grouping *grouping, int64_t row)
{
	int r;

	if (row < 0)
		return (int)row;
	r = ARRAY_RESERVE(&grouping->groups, &grouping->cap_groups, grouping->n_groups + 1);
	if (r < 0)
		return r;
	grouping->groups[grouping->n_groups++] = (uint32_t)row;
	return 0;
}

/* Appends the row @key to the current range. */
static int grouping_add(struct grouping *grouping, const struct share_key *key)
{
	return grouping_add_row(grouping, shares_find(grouping->shares, key));
}

static int grouping_count(struct grouping *grouping, bool exact, struct shares **ret)
{
	int r = shares_count(grouping->shares, grouping->profile, grouping->ranges,
			     grouping->groups, exact);

	if (r < 0)
		return r;
	*ret = TAKE_PTR(grouping->shares);
	return 0;
}

/* The function that a frame's location stands for, as profile_place_frame(); or NULL. */
static const struct profile_function *function_of_frame(const struct profile *profile,
							struct location frame)
{
	const struct profile_function *function = profile_find_function(profile, frame);

	return function ?: profile_find_function(profile, profile_place_frame(profile, frame));
}

/* The key of @function, or of what @object has without one. */
static struct share_key key_of_function(const struct profile_function *function, uint32_t object)
{
	struct share_key key = { .object = object };

	if (function) {
		key.symbol = function->name;
		key.start = function->start;
	}
	return key;
}

/* NULL: of no container. */
static const char *find_container(char buffer[CONTAINER_TEXT_MAX],
				  const struct profile_process *process)
{
	struct container container;

	if (!process || !container_find(&container, process->unit))
		return NULL;
	return container_format(buffer, &container);
}

void share_key_set_owner(struct share_key *key, enum view_by by, const struct profile *profile,
			 uint32_t number, char buffer[CONTAINER_TEXT_MAX])
{
	const struct profile_process *process =
		number == PROFILE_NONE ? NULL : &profile->processes[number];

	switch (by) {
	case VIEW_PROCESS:
		key->process = number;
		return;
	case VIEW_COMM:
		key->group = process ? process->comm : NULL;
		return;
	case VIEW_UNIT:
		key->group = process ? process->unit : NULL;
		return;
	case VIEW_CONTAINER:
		key->group = find_container(buffer, process);
		return;
	case VIEW_USER:
		key->group = process ? user_number_format(buffer, process->uid) : NULL;
		return;
	case VIEW_HOST: /* the processes of a cluster's counts are hosts */
		key->group = process ? process->comm : NULL;
		return;
	default:
		return;
	}
}

/* What was counted at a location in a process. */
struct counted_at {
	uint32_t process;
	struct location at;
};

/* The row of it, in views where a location has one row. */
static struct share_key key_of(struct grouping *grouping, struct share_views views,
			       struct counted_at counted)
{
	const struct profile *profile = grouping->profile;
	struct share_key key = {};

	if (views.by == VIEW_FUNCTION)
		key = key_of_function(function_of_frame(profile, counted.at), counted.at.object);
	else if (views.by == VIEW_OBJECT)
		key.object = counted.at.object;
	else
		share_key_set_owner(&key, views.by, profile, counted.process, grouping->container);
	share_key_set_owner(&key, views.owner, profile, counted.process, grouping->container);
	return key;
}

/* The row of a function, without another search for its key. */
static int64_t find_function_row(struct grouping *grouping, struct location frame)
{
	const struct profile *profile = grouping->profile;
	const struct profile_function *function = function_of_frame(profile, frame);
	struct share_key key = key_of_function(function, frame.object);
	uint32_t *known;

	if (!function)
		return shares_find(grouping->shares, &key);
	known = &grouping->function_rows[function - profile->functions];
	if (*known == 0) {
		int64_t row = shares_find(grouping->shares, &key);

		if (row < 0)
			return row;
		*known = (uint32_t)row + 1;
	}
	return *known - 1;
}

static int add_stacks(struct grouping *grouping, struct share_views views)
{
	const bool plain = views.by == VIEW_FUNCTION && views.owner == VIEW_NO_OWNER;
	const struct profile *profile = grouping->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct share_key key;

		grouping->ranges[i] = (struct share_range){ (uint32_t)grouping->n_groups, 1 };
		if (plain) {
			r = grouping_add_row(grouping, find_function_row(grouping, stack->frame));
			continue;
		}
		key = key_of(grouping, views, (struct counted_at){ stack->process, stack->frame });
		r = grouping_add(grouping, &key);
	}
	return r;
}

/* The function of a row that stands for others is not known, see other.h. */
static struct share_key key_of_branch(struct grouping *grouping, struct share_views views,
				      const struct profile_branch *branch)
{
	struct share_key key =
		key_of(grouping, views, (struct counted_at){ branch->process, branch->from });

	if (other_is_branch(branch)) {
		key.symbol = NULL;
		key.start = 0;
	}
	return key;
}

static int add_predictions(struct grouping *grouping, struct share_views views)
{
	const struct profile *profile = grouping->profile;

	for (size_t i = 0; i < profile->n_branches; i++) {
		const struct profile_branch *branch = &profile->branches[i];
		struct share_key key = key_of_branch(grouping, views, branch);
		int64_t row = shares_find(grouping->shares, &key);

		if (row < 0)
			return (int)row;
		grouping->shares->rows[row].predicted += branch->predicted;
		grouping->shares->rows[row].mispredicted += branch->mispredicted;
	}
	return 0;
}

static int compare_mispredicted(const void *p, const void *q)
{
	const struct share *a = p, *b = q;

	return a->mispredicted != b->mispredicted ? COMPARE(b->mispredicted, a->mispredicted) :
						    share_compare(p, q);
}

/* The rows with mispredictions, most first. */
static void keep_mispredicted(struct shares *shares)
{
	size_t n = 0;

	for (size_t i = 0; i < shares->n_rows; i++)
		if (shares->rows[i].mispredicted > 0)
			shares->rows[n++] = shares->rows[i];
	shares->n_rows = n;
	if (n > 0)
		qsort(shares->rows, n, sizeof(*shares->rows), compare_mispredicted);
}

int view_owned_shares(struct shares **ret, struct share_views views, const struct profile *profile)
{
	_cleanup_(grouping_done) struct grouping grouping;
	int r;

	r = grouping_init(&grouping, profile);
	if (r >= 0)
		r = add_stacks(&grouping, views);
	if (r >= 0 && views.predictions)
		r = add_predictions(&grouping, views);
	if (r >= 0)
		r = grouping_count(&grouping, true, ret);
	if (r >= 0 && views.predictions)
		keep_mispredicted(*ret);
	return r;
}

bool view_is_owner(enum view_by by)
{
	return by == VIEW_PROCESS || by == VIEW_COMM || by == VIEW_UNIT || by == VIEW_CONTAINER ||
	       by == VIEW_USER || by == VIEW_HOST;
}

static int view_by_key(struct shares **ret, const struct profile *profile, enum view_by by)
{
	return view_owned_shares(ret, (struct share_views){ .by = by, .owner = VIEW_NO_OWNER },
				 profile);
}

int view_functions(struct shares **ret, const struct profile *profile)
{
	return view_by_key(ret, profile, VIEW_FUNCTION);
}

/* Adds the rows of the location @at, the innermost first. */
typedef int (*place_function)(struct grouping *grouping, struct location at);

static size_t look_up_lines(const struct grouping *grouping, struct location at,
			    struct source_frame *ret, size_t n)
{
	int found;

	if (at.object == PROFILE_NONE)
		return 0;
	found = symbolizer_lines(grouping->symbolizer, &grouping->profile->objects[at.object],
				 at.offset, ret, n);
	return found > 0 ? (size_t)found : 0;
}

static int add_functions(struct grouping *grouping, struct location at)
{
	struct share_key key =
		key_of_function(profile_find_function(grouping->profile, at), at.object);
	struct source_frame frames[MAX_INLINED];
	size_t n = look_up_lines(grouping, at, frames, MAX_INLINED);
	int r = 0;

	/* The last frame is the function itself, whose symbol is the better name. */
	for (size_t i = 0; r >= 0 && i + 1 < n; i++)
		if (frames[i].function)
			r = grouping_add(grouping, &(struct share_key){
							   .symbol = frames[i].function,
							   .object = at.object,
						   });
	if (r < 0)
		return r;
	if (key.symbol)
		key.start = 0;
	return grouping_add(grouping, &key);
}

static int add_lines(struct grouping *grouping, struct location at)
{
	struct source_frame frames[MAX_INLINED];
	size_t n = look_up_lines(grouping, at, frames, MAX_INLINED);
	struct share_key key = { .object = at.object };
	size_t n_before = grouping->n_groups;
	int r;

	for (size_t i = 0; i < n; i++) {
		if (!frames[i].file || frames[i].line == 0)
			continue;
		key.file = frames[i].file;
		key.line = frames[i].line;
		r = grouping_add(grouping, &key);
		if (r < 0 || !grouping->inlined)
			return r;
	}
	return grouping->n_groups > n_before ? 0 : grouping_add(grouping, &key);
}

/* Groups each location once. */
static int group_location(struct grouping *grouping, struct location at, place_function add,
			  struct share_range *ret)
{
	_cleanup_free_ struct grouped_location *new = NULL;
	struct grouped_location *grouped;
	struct location key;
	int r;

	memset(&key, 0, sizeof(key)); /* its padding is hashed */
	key.object = at.object;
	key.offset = at.offset;
	HASH_FIND(hh, grouping->grouped, &key, sizeof(key), grouped);
	if (grouped) {
		*ret = grouped->range;
		return 0;
	}
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	memcpy(&new->at, &key, sizeof(key));
	new->range.first = (uint32_t)grouping->n_groups;
	r = add(grouping, at);
	if (r < 0)
		return r;
	new->range.n = (uint32_t)grouping->n_groups - new->range.first;
	HASH_ADD(hh, grouping->grouped, at, sizeof(new->at), new);
	if (!new->hh.tbl)
		return -ENOMEM;
	*ret = TAKE_PTR(new)->range;
	return 0;
}

/* The lines of all nodes at once. */
static int load_lines(const struct profile *profile, struct symbolizer *symbolizer)
{
	_cleanup_(line_loader_done) struct line_loader loader = {};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_stacks; i++)
		r = line_loader_add(&loader,
				    profile_place_frame(profile, profile->stacks[i].frame));
	return r < 0 ? r : line_loader_run(&loader, profile, symbolizer);
}

static int view_by_place(struct shares **ret, const struct profile *profile,
			 struct symbolizer *symbolizer, bool inlined, place_function add)
{
	_cleanup_(grouping_done) struct grouping grouping;
	int r;

	r = grouping_init(&grouping, profile);
	grouping.symbolizer = symbolizer;
	grouping.inlined = inlined;
	if (r >= 0)
		r = load_lines(profile, symbolizer);
	for (size_t i = 0; r >= 0 && i < profile->n_stacks; i++)
		r = group_location(&grouping,
				   profile_place_frame(profile, profile->stacks[i].frame), add,
				   &grouping.ranges[i]);
	return r < 0 ? r : grouping_count(&grouping, false, ret);
}

int view_functions_inlined(struct shares **ret, const struct profile *profile,
			   struct symbolizer *symbolizer)
{
	return view_by_place(ret, profile, symbolizer, true, add_functions);
}

int view_lines(struct shares **ret, const struct profile *profile, struct symbolizer *symbolizer,
	       bool inlined)
{
	return view_by_place(ret, profile, symbolizer, inlined, add_lines);
}

int view_shares(struct shares **ret, enum view_by by, const struct profile *profile,
		struct symbolizer *symbolizer, bool inlined)
{
	switch (by) {
	case VIEW_FUNCTION:
		return inlined ? view_functions_inlined(ret, profile, symbolizer) :
				 view_functions(ret, profile);
	case VIEW_LINE:
		return view_lines(ret, profile, symbolizer, inlined);
	default:
		return view_by_key(ret, profile, by);
	}
}
