/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Least significant digit first, a byte a digit, as in any textbook. Two things make it fast here:
 * all histograms are taken in one pass, and a byte that is the same in all keys (most are: process
 * and object numbers are small) costs nothing more. Keys that are in order already cost one look.
 */
#include "common/profile/radix.h"

#include <stdbool.h>
#include <string.h>

#define N_DIGITS 12 /* bytes of a key */
#define FEW	 48 /* keys that are sorted faster by insertion than by counting */

static bool in_order(const struct radix_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (radix_compare(&keys[i - 1], &keys[i]) > 0)
			return false;
	}
	return true;
}

static void insertion_sort(struct radix_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct radix_key key = keys[i];
		size_t at = i;

		for (; at > 0 && radix_compare(&keys[at - 1], &key) > 0; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

/* Digit 0 is the least: the lowest byte of the last word. */
static inline uint8_t digit(const struct radix_key *key, unsigned int d)
{
	return (uint8_t)(key->word[2 - d / 4] >> (d % 4 * 8));
}

static void distribute(const struct radix_key *from, struct radix_key *to, size_t n, unsigned int d,
		       const size_t count[256])
{
	size_t at[256], sum = 0;

	for (unsigned int i = 0; i < 256; i++) {
		at[i] = sum;
		sum += count[i];
	}
	for (size_t i = 0; i < n; i++)
		to[at[digit(&from[i], d)]++] = from[i];
}

static void sort_by_digits(struct radix_key *keys, struct radix_key *spare, size_t n)
{
	size_t count[N_DIGITS][256] = { 0 };
	struct radix_key *from = keys, *to = spare;

	for (size_t i = 0; i < n; i++) {
		for (unsigned int d = 0; d < N_DIGITS; d++)
			count[d][digit(&keys[i], d)]++;
	}
	for (unsigned int d = 0; d < N_DIGITS; d++) {
		struct radix_key *swap = from;

		if (count[d][digit(from, d)] == n)
			continue;
		distribute(from, to, n, d, count[d]);
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}

void radix_sort(struct radix_key *keys, struct radix_key *spare, size_t n)
{
	if (n <= FEW)
		insertion_sort(keys, n);
	else if (!in_order(keys, n))
		sort_by_digits(keys, spare, n);
}
