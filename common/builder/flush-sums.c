/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash tables with open addressing and linear probing, and three stages for each row, as of branch
 * records: see branch-table.c. */
#include "common/builder/flush-sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/builder/branch-table.h"
#include "common/profile/add-counts.h"
#include "common/util/macro.h"

#define MIN_BITS 10

static bool same_location(struct location a, struct location b)
{
	return a.offset == b.offset && a.object == b.object;
}

static uint64_t hash_branch(const struct profile_branch *b)
{
	return branch_table_hash((uint64_t)b->from.object << 32 | b->to.object, b->from.offset,
				 b->to.offset);
}

static uint64_t hash_block(const struct profile_block *b)
{
	return branch_table_hash(b->object, b->start, b->end);
}

static uint64_t hash_stack(const struct profile_stack *s)
{
	return branch_table_hash((uint64_t)s->frame.object << 32 | s->process, s->frame.offset,
				 s->parent);
}

static uint64_t hash_row(const struct flush_sums *s, const struct profile *p, size_t i)
{
	if (s->table == PROFILE_STACKS)
		return hash_stack(&p->stacks[i]);
	return s->table == PROFILE_BRANCHES ? hash_branch(&p->branches[i]) :
					      hash_block(&p->blocks[i]);
}

/* Whether row @i has the ends of @row. */
static bool is_of(const struct flush_sums *s, const struct profile *p, size_t i,
		  const struct summed_row *row)
{
	if (s->table == PROFILE_BRANCHES)
		return same_location(p->branches[i].from, row->branch.from) &&
		       same_location(p->branches[i].to, row->branch.to);
	return p->blocks[i].start == row->block.start && p->blocks[i].end == row->block.end &&
	       p->blocks[i].object == row->block.object;
}

static size_t next_slot(const struct flush_sums *s, size_t k)
{
	return (k + 1) & (((size_t)1 << s->bits) - 1);
}

/* Makes room for one more than @n_rows. */
static int reserve(struct flush_sums *s, const struct profile *p, size_t n_rows)
{
	unsigned int bits = s->slots ? s->bits + 1 : MIN_BITS;
	uint32_t *slots;

	if (s->slots && n_rows < (size_t)1 << (s->bits - 1))
		return 0;
	while (n_rows >= (size_t)1 << (bits - 1)) /* of an earlier flush */
		bits++;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->bits = bits;
	for (size_t i = 0; i < n_rows; i++) {
		size_t k = hash_row(s, p, i) >> (64 - bits);

		while (slots[k] != 0)
			k = next_slot(s, k);
		slots[k] = (uint32_t)i + 1;
	}
	return 0;
}

void flush_sums_done(struct flush_sums *sums)
{
	free(sums->slots);
}

static void prefetch_slot(const struct flush_sums *s, const struct summed_row *row)
{
	if (s->slots)
		__builtin_prefetch(&s->slots[row->hash >> (64 - s->bits)]);
}

/* The row where it is probably counted: it may lie in two cache lines. */
static void prefetch_row(const struct flush_sums *s, const struct profile *p,
			 const struct summed_row *row)
{
	uint32_t slot = s->slots ? s->slots[row->hash >> (64 - s->bits)] : 0;
	const char *at;

	if (slot == 0)
		return;
	at = s->table == PROFILE_BRANCHES ? (const char *)&p->branches[slot - 1] :
					    (const char *)&p->blocks[slot - 1];
	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + 64, 1);
}

static void add_up(const struct flush_sums *s, struct profile *p, size_t i,
		   const struct summed_row *row)
{
	if (s->table == PROFILE_BRANCHES)
		add_counts_of_branch(&p->branches[i], &row->branch);
	else
		add_counts_of_block(&p->blocks[i], &row->block);
}

/* Adds it to the row with its ends, or to the table. */
static int count(struct flush_sums *s, struct profile *p, const struct summed_row *row)
{
	size_t n_rows = s->table == PROFILE_BRANCHES ? p->n_branches : p->n_blocks, k;
	int64_t index;

	if (reserve(s, p, n_rows) < 0)
		return -ENOMEM;
	k = row->hash >> (64 - s->bits);
	while (s->slots[k] != 0 && !is_of(s, p, s->slots[k] - 1, row))
		k = next_slot(s, k);
	if (s->slots[k] != 0) {
		add_up(s, p, s->slots[k] - 1, row);
		return 0;
	}
	index = s->table == PROFILE_BRANCHES ? profile_add_branch(p, &row->branch) :
					       profile_add_block(p, &row->block);
	if (index < 0)
		return -ENOMEM;
	s->slots[k] = (uint32_t)index + 1;
	return 0;
}

static int put(struct flush_sums *s, struct profile *p, const struct summed_row *row)
{
	struct summed_row *place = &s->waiting[s->n % FLUSH_SUMS_AHEAD];
	int r = s->n < FLUSH_SUMS_AHEAD ? 0 : count(s, p, place);

	if (s->n >= FLUSH_SUMS_AHEAD / 2)
		prefetch_row(s, p, &s->waiting[(s->n - FLUSH_SUMS_AHEAD / 2) % FLUSH_SUMS_AHEAD]);
	*place = *row;
	prefetch_slot(s, place);
	s->n++;
	return r;
}

int flush_sums_add_branch(struct flush_sums *sums, struct profile *profile,
			  const struct profile_branch *branch)
{
	struct summed_row row = { .hash = hash_branch(branch), .branch = *branch };

	return put(sums, profile, &row);
}

int flush_sums_add_block(struct flush_sums *sums, struct profile *profile,
			 const struct profile_block *block)
{
	struct summed_row row = { .hash = hash_block(block), .block = *block };

	return put(sums, profile, &row);
}

static bool same_stack(const struct profile_stack *a, const struct profile_stack *b)
{
	return a->parent == b->parent && a->process == b->process &&
	       same_location(a->frame, b->frame);
}

int64_t flush_sums_add_stack(struct flush_sums *sums, struct profile *profile,
			     const struct profile_stack *stack)
{
	int64_t index;
	size_t k;

	if (reserve(sums, profile, profile->n_stacks) < 0)
		return -ENOMEM;
	k = hash_stack(stack) >> (64 - sums->bits);
	while (sums->slots[k] != 0 && !same_stack(&profile->stacks[sums->slots[k] - 1], stack))
		k = next_slot(sums, k);
	if (sums->slots[k] != 0) {
		add_counts_of_stack(&profile->stacks[sums->slots[k] - 1], stack);
		return sums->slots[k] - 1;
	}
	index = profile_add_stack(profile, stack);
	if (index >= 0)
		sums->slots[k] = (uint32_t)index + 1;
	return index;
}

int flush_sums_end(struct flush_sums *sums, struct profile *profile)
{
	size_t i = sums->n - MIN(sums->n, (size_t)FLUSH_SUMS_AHEAD);
	int r = 0;

	for (; i < sums->n && r >= 0; i++)
		r = count(sums, profile, &sums->waiting[i % FLUSH_SUMS_AHEAD]);
	return r;
}
