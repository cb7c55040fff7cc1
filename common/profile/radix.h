/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts rows by a key of three 32-bit words, for all tables of a profile. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct radix_key {
	uint32_t word[3]; /* the first is the most significant */
	uint32_t index;   /* of the row; not compared */
};

/* Sorts the @n keys, equal ones in their former order. @spare is room for @n keys. */
void radix_sort(struct radix_key *keys, struct radix_key *spare, size_t n);

static inline int radix_compare(const struct radix_key *a, const struct radix_key *b)
{
	for (int i = 0; i < 3; i++) {
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	}
	return 0;
}
