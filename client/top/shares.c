/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree of stacks is walked depth first with one counter per row: how often the row is on the
 * path from the root. When it becomes 1, all samples below count for the row's total, none twice.
 */
#include "client/top/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/stack-walk.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/strings.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct shares_index {
	struct share_key key;
	uint32_t row;
	UT_hash_handle hh;
};

int shares_new(struct shares **ret)
{
	_cleanup_(shares_freep) struct shares *shares = calloc(1, sizeof(*shares));
	int r;

	if (!shares)
		return -ENOMEM;
	r = strings_new(&shares->strings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(shares);
	return 0;
}

struct shares *shares_free(struct shares *shares)
{
	struct shares_index *entry, *next;

	if (!shares)
		return NULL;
	HASH_ITER(hh, shares->index, entry, next) {
		HASH_DEL(shares->index, entry);
		free(entry);
	}
	strings_free(shares->strings);
	free(shares->rows);
	free(shares);
	return NULL;
}

static int intern(struct shares *shares, const char **s)
{
	if (!*s)
		return 0;
	*s = strings_intern(shares->strings, *s);
	return *s ? 0 : -ENOMEM;
}

/* The key as it is hashed: interned strings, and zero padding. */
static int own_key(struct shares *shares, struct share_key *ret, const struct share_key *key)
{
	memset(ret, 0, sizeof(*ret));
	ret->symbol = key->symbol;
	ret->group = key->group;
	ret->file = key->file;
	ret->start = key->start;
	ret->line = key->line;
	ret->object = key->object;
	ret->process = key->process;
	if (intern(shares, &ret->symbol) < 0 || intern(shares, &ret->group) < 0 ||
	    intern(shares, &ret->file) < 0)
		return -ENOMEM;
	return 0;
}

static int add_row(struct shares *shares, const struct share_key *key)
{
	_cleanup_free_ struct shares_index *entry = calloc(1, sizeof(*entry));

	if (!entry || ARRAY_RESERVE(&shares->rows, &shares->cap_rows, shares->n_rows + 1) < 0)
		return -ENOMEM;
	memcpy(&entry->key, key, sizeof(*key));
	entry->row = (uint32_t)shares->n_rows;
	HASH_ADD(hh, shares->index, key, sizeof(entry->key), entry);
	if (!entry->hh.tbl)
		return -ENOMEM;
	shares->rows[shares->n_rows++] = (struct share){ .key = *key };
	TAKE_PTR(entry);
	return 0;
}

int64_t shares_find(struct shares *shares, const struct share_key *key)
{
	struct shares_index *entry;
	struct share_key own;
	int r;

	r = own_key(shares, &own, key);
	if (r < 0)
		return r;
	HASH_FIND(hh, shares->index, &own, sizeof(own), entry);
	if (entry)
		return entry->row;
	r = add_row(shares, &own);
	return r < 0 ? r : (int64_t)shares->n_rows - 1;
}

struct counting {
	struct shares *shares;
	const struct share_range *ranges;
	const uint32_t *groups;
	bool exact;
	uint32_t *active; /* by row: how often it is on the path from the root */
};

static void counting_done(struct counting *counting)
{
	free(counting->active);
}

static void enter(const struct stack_walk *walk, uint32_t node, void *userdata)
{
	struct counting *c = userdata;
	const struct profile_stack *stack = &walk->profile->stacks[node];

	for (uint32_t i = 0; i < c->ranges[node].n; i++) {
		uint32_t number = c->groups[c->ranges[node].first + i];
		struct share *row = &c->shares->rows[number];

		if (i == 0)
			row->self += stack->samples;
		if (i == 0 && !c->exact)
			row->self_variance += stack->variance;
		if (c->active[number]++ == 0) {
			row->total += walk->below[node].samples;
			row->total_variance += walk->below[node].variance;
		}
		if (i == 0 && c->exact)
			row->total_variance -= stack->variance;
	}
}

static void leave(const struct stack_walk *walk, uint32_t node, void *userdata)
{
	struct counting *c = userdata;

	for (uint32_t i = 0; i < c->ranges[node].n; i++)
		c->active[c->groups[c->ranges[node].first + i]]--;
}

/* NULL comes after all other strings. */
static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return (!a) - (!b);
	return strcmp(a, b);
}

static int compare_keys(const struct share_key *a, const struct share_key *b)
{
	int r = compare_names(a->symbol, b->symbol);

	if (r == 0)
		r = compare_names(a->file, b->file);
	if (r == 0)
		r = compare_names(a->group, b->group);
	if (r == 0)
		r = COMPARE(a->line, b->line);
	if (r == 0)
		r = COMPARE(a->object, b->object);
	if (r == 0)
		r = COMPARE(a->process, b->process);
	return r ? r : COMPARE(a->start, b->start);
}

int share_compare(const void *p, const void *q)
{
	const struct share *a = p, *b = q;

	if (a->self != b->self)
		return COMPARE(b->self, a->self);
	if (a->total != b->total)
		return COMPARE(b->total, a->total);
	return compare_keys(&a->key, &b->key);
}

int shares_count(struct shares *shares, const struct profile *profile,
		 const struct share_range *ranges, const uint32_t *groups, bool exact)
{
	_cleanup_(counting_done) struct counting counting = {
		.shares = shares,
		.ranges = ranges,
		.groups = groups,
		.exact = exact,
		.active = calloc(shares->n_rows + 1, sizeof(*counting.active)),
	};
	_cleanup_(stack_walk_done) struct stack_walk walk;
	int r = stack_walk_init(&walk, profile);

	if (r < 0 || !counting.active)
		return -ENOMEM;
	stack_walk_run(&walk, enter, leave, &counting);
	if (shares->n_rows > 0)
		qsort(shares->rows, shares->n_rows, sizeof(*shares->rows), share_compare);
	return 0;
}
