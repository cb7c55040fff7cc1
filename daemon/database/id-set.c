/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-set.h"

#include <errno.h>
#include <stdlib.h>

#define MIN_WORDS ((size_t)64)
#define OF_WORD   64 /* ids */

struct id_word {
	uint64_t number; /* of the word: its first id divided by OF_WORD */
	uint64_t bits;   /* 0: it is free */
};

void id_set_done(struct id_set *set)
{
	free(set->words);
}

/* The word of that number, or the free one where it belongs. */
static struct id_word *find_word(const struct id_set *set, uint64_t number)
{
	size_t mask = set->n_words - 1, i = number * 0x9e3779b97f4a7c15ull >> 32 & mask;

	while (set->words[i].bits != 0 && set->words[i].number != number)
		i = (i + 1) & mask;
	return &set->words[i];
}

bool id_set_has(const struct id_set *set, int64_t id)
{
	return id >= 0 && set->n > 0 &&
	       find_word(set, (uint64_t)id / OF_WORD)->bits >> id % OF_WORD & 1;
}

static int grow(struct id_set *set)
{
	struct id_set larger = { .n = set->n,
				 .n_words = set->n_words > 0 ? 2 * set->n_words : MIN_WORDS };

	larger.words = calloc(larger.n_words, sizeof(*larger.words));
	if (!larger.words)
		return -ENOMEM;
	for (size_t i = 0; i < set->n_words; i++)
		if (set->words[i].bits != 0)
			*find_word(&larger, set->words[i].number) = set->words[i];
	free(set->words);
	*set = larger;
	return 0;
}

int id_set_put(struct id_set *set, int64_t id)
{
	uint64_t number = (uint64_t)id / OF_WORD;
	struct id_word *word;

	if (id < 0)
		return 0;
	if (set->n * 3 >= set->n_words * 2 && grow(set) < 0)
		return -ENOMEM;
	word = find_word(set, number);
	set->n += word->bits == 0;
	word->number = number;
	word->bits |= (uint64_t)1 << id % OF_WORD;
	return 0;
}
