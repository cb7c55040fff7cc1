/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash tables with open addressing and linear probing, as of branch records: see branch-table.c. */
#include "common/builder/flush-sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/builder/branch-table.h"
#include "common/profile/add-counts.h"
#include "common/profile/tables.h"

#define MIN_BITS 10

/* The key of a row. */
struct ends {
	struct location from, to;
};

static struct ends branch_ends(const struct profile_branch *b)
{
	return (struct ends){ b->from, b->to };
}

static struct ends block_ends(const struct profile_block *b)
{
	return (struct ends){ { b->object, b->start }, { b->object, b->end } };
}

static bool same_location(struct location a, struct location b)
{
	return a.offset == b.offset && a.object == b.object;
}

/* The slot of the row with these ends, or the free one where it belongs. */
static uint32_t *find_slot(const struct flush_sums *s, const struct profile *p,
			   enum profile_table table, const struct ends *ends)
{
	uint64_t objects = (uint64_t)ends->from.object << 32 | ends->to.object;
	size_t mask = ((size_t)1 << s->bits) - 1;
	size_t k = branch_table_hash(objects, ends->from.offset, ends->to.offset) >> (64 - s->bits);

	for (; s->slots[k] != 0; k = (k + 1) & mask) {
		size_t i = s->slots[k] - 1;
		struct ends other = table == PROFILE_BRANCHES ? branch_ends(&p->branches[i]) :
								block_ends(&p->blocks[i]);

		if (same_location(ends->from, other.from) && same_location(ends->to, other.to))
			break;
	}
	return &s->slots[k];
}

static void index_rows(struct flush_sums *s, const struct profile *p, enum profile_table table,
		       size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		struct ends ends = table == PROFILE_BRANCHES ? branch_ends(&p->branches[i]) :
							       block_ends(&p->blocks[i]);

		*find_slot(s, p, table, &ends) = (uint32_t)i + 1;
	}
}

/* Makes room for one more than @n_rows. */
static int reserve(struct flush_sums *s, const struct profile *p, enum profile_table table,
		   size_t n_rows)
{
	unsigned int bits = s->slots ? s->bits + 1 : MIN_BITS;
	uint32_t *slots;

	if (s->slots && n_rows < (size_t)1 << (s->bits - 1))
		return 0;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->bits = bits;
	index_rows(s, p, table, n_rows);
	return 0;
}

void flush_sums_done(struct flush_sums *sums)
{
	free(sums->slots);
}

static int note(uint32_t *slot, int64_t index)
{
	if (index < 0)
		return -ENOMEM;
	*slot = (uint32_t)index + 1;
	return 0;
}

int flush_sums_add_branch(struct flush_sums *sums, struct profile *profile,
			  const struct profile_branch *branch)
{
	const struct ends ends = branch_ends(branch);
	uint32_t *slot;

	if (reserve(sums, profile, PROFILE_BRANCHES, profile->n_branches) < 0)
		return -ENOMEM;
	slot = find_slot(sums, profile, PROFILE_BRANCHES, &ends);
	if (*slot == 0)
		return note(slot, profile_add_branch(profile, branch));
	add_counts_of_branch(&profile->branches[*slot - 1], branch);
	return 0;
}

int flush_sums_add_block(struct flush_sums *sums, struct profile *profile,
			 const struct profile_block *block)
{
	const struct ends ends = block_ends(block);
	uint32_t *slot;

	if (reserve(sums, profile, PROFILE_BLOCKS, profile->n_blocks) < 0)
		return -ENOMEM;
	slot = find_slot(sums, profile, PROFILE_BLOCKS, &ends);
	if (*slot == 0)
		return note(slot, profile_add_block(profile, block));
	add_counts_of_block(&profile->blocks[*slot - 1], block);
	return 0;
}
