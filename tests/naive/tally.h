/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tallies for tests: tuples of numbers with counts, added up the slow and obvious way, and compared
 * as wholes. Running out of memory ends the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_KEYS   6
#define TALLY_COUNTS 6

struct tally_entry {
	uint64_t key[TALLY_KEYS];
	uint64_t count[TALLY_COUNTS];
};

struct tally {
	struct tally_entry *entries;
	size_t n, cap;
};

void tally_add(struct tally *tally, const struct tally_entry *entry);
/* Sorts the entries and adds up equal keys; more may be added afterwards. */
void tally_merge(struct tally *tally);
void tally_done(struct tally *tally);

/* The sum of count number @i over all entries. */
uint64_t tally_sum(const struct tally *tally, size_t i);
/* The entry of a merged tally, or NULL. */
const struct tally_entry *tally_find(const struct tally *tally, const uint64_t key[TALLY_KEYS]);

/* True if two merged tallies are equal. If not, prints the first differences to stderr, under
 * @title. */
bool tally_equal(const struct tally *got, const struct tally *expected, const char *title);
