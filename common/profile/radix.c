/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A radix sort with one byte per digit: most significant digit first until a part fits the cache,
 * then least significant digit first. Bytes that are the same in all keys of a part are skipped;
 * most are, because process and object numbers are small. Sorted keys cost one pass.
 */
#include "common/profile/radix.h"

#include <stdbool.h>
#include <string.h>

#define N_DIGITS 12   /* bytes of a key */
#define FEW      40   /* keys that are sorted faster by insertion than by counting */
#define PART     8192 /* keys that fit the second-level cache twice */

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

/* Digit 0 is the most significant: the highest byte of the first word. */
static inline uint8_t digit(const struct radix_key *key, unsigned int d)
{
	return (uint8_t)(key->word[d / 4] >> (24 - d % 4 * 8));
}

/* All bits in which any two keys differ. */
static struct radix_key differences(const struct radix_key *keys, size_t n)
{
	uint32_t first = 0, second = 0, third = 0;

	for (size_t i = 1; i < n; i++) {
		first |= keys[i].word[0] ^ keys[0].word[0];
		second |= keys[i].word[1] ^ keys[0].word[1];
		third |= keys[i].word[2] ^ keys[0].word[2];
	}
	return (struct radix_key){ .word = { first, second, third } };
}

/* Copies @from to @to in the order of digit @d; ret_end[v] is the end of the part with value v. */
static void distribute(const struct radix_key *from, struct radix_key *to, size_t n, unsigned int d,
		       uint32_t ret_end[256])
{
	uint32_t sum = 0;

	memset(ret_end, 0, 256 * sizeof(*ret_end));
	for (size_t i = 0; i < n; i++)
		ret_end[digit(&from[i], d)]++;
	for (unsigned int i = 0; i < 256; i++) {
		uint32_t count = ret_end[i];

		ret_end[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[ret_end[digit(&from[i], d)]++] = from[i];
}

/* Sorts a part that fits the cache: least significant digit first. */
static void sort_part(struct radix_key *keys, struct radix_key *spare, size_t n,
		      const struct radix_key *differing)
{
	struct radix_key *from = keys, *to = spare, *swap;
	uint32_t end[256];

	for (unsigned int d = N_DIGITS; d-- > 0;) {
		if (digit(differing, d) == 0)
			continue;
		distribute(from, to, n, d, end);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}

/* Recurses at most 12 deep: the keys of a part agree in one more digit at each level. */
void radix_sort(struct radix_key *keys, struct radix_key *spare, size_t n)
{
	uint32_t end[256], start = 0;
	struct radix_key differing;
	unsigned int d = 0;

	if (n <= FEW) {
		insertion_sort(keys, n);
		return;
	}
	if (in_order(keys, n))
		return;
	differing = differences(keys, n);
	if (n <= PART) {
		sort_part(keys, spare, n, &differing);
		return;
	}
	while (digit(&differing, d) == 0)
		d++;
	distribute(keys, spare, n, d, end);
	memcpy(keys, spare, n * sizeof(*keys));
	for (unsigned int i = 0; i < 256; i++) {
		radix_sort(keys + start, spare, end[i] - start);
		start = end[i];
	}
}
