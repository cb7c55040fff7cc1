/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/slot-sums.h"

#include <assert.h>
#include <stdlib.h>

#include "common/util/fnv.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct slot_sum {
	struct slot_key key;
	struct profile *profile; /* or ... */
	struct count_slot *counts;
	struct slot_sum *newer, *older; /* used more and less recently */
	size_t n_bytes;
	unsigned int n_users;
	uint64_t used_us; /* CLOCK_MONOTONIC */
	UT_hash_handle hh;
};

void slot_key_make(struct slot_key *ret, const struct window *windows, size_t n, uint64_t what)
{
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < n; i++) {
		hash = fnv_add_number(hash, (uint64_t)windows[i].id);
		hash = fnv_add_number(hash, windows[i].start_us);
		hash = fnv_add_number(hash, windows[i].length_us);
		hash = fnv_add_number(hash, windows[i].samples);
		hash = fnv_add_number(hash, windows[i].lost);
	}
	*ret = (struct slot_key){ n > 0 ? windows[0].id : 0, n, hash, what };
}

static void take_out(struct slot_sums *sums, struct slot_sum *sum)
{
	*(sum->newer ? &sum->newer->older : &sums->newest) = sum->older;
	*(sum->older ? &sum->older->newer : &sums->oldest) = sum->newer;
}

static void put_first(struct slot_sums *sums, struct slot_sum *sum)
{
	sum->newer = NULL;
	sum->older = sums->newest;
	*(sum->older ? &sum->older->newer : &sums->oldest) = sum;
	sums->newest = sum;
}

static void free_sum(struct slot_sums *sums, struct slot_sum *sum)
{
	assert(sum->n_users == 0);
	take_out(sums, sum);
	HASH_DEL(sums->by_key, sum);
	sums->n_bytes -= sum->n_bytes;
	profile_free(sum->profile);
	count_slot_free(sum->counts);
	free(sum);
}

void slot_sums_done(struct slot_sums *sums)
{
	while (sums->oldest)
		free_sum(sums, sums->oldest);
}

/* The least recently used ones without a user go. */
static void make_room(struct slot_sums *sums)
{
	struct slot_sum *next;

	for (struct slot_sum *sum = sums->oldest; sum && sums->n_bytes > SLOT_SUMS_MAX_BYTES;
	     sum = next) {
		next = sum->newer;
		if (sum->n_users == 0)
			free_sum(sums, sum);
	}
}

static struct slot_sum *use(struct slot_sums *sums, struct slot_sum *sum, uint64_t now_us)
{
	put_first(sums, sum);
	sum->n_users++;
	sum->used_us = now_us;
	return sum;
}

struct slot_sum *slot_sums_find(struct slot_sums *sums, const struct slot_key *key, uint64_t now_us)
{
	struct slot_sum *sum;

	HASH_FIND(hh, sums->by_key, key, sizeof(*key), sum);
	if (!sum)
		return NULL;
	take_out(sums, sum);
	return use(sums, sum, now_us);
}

/* Two queries may make the same sum at a time: then both are kept. */
static struct slot_sum *add(struct slot_sums *sums, const struct slot_key *key, size_t n_bytes,
			    uint64_t now_us)
{
	struct slot_sum *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return NULL;
	sum->key = *key;
	sum->n_bytes = sizeof(*sum) + n_bytes;
	HASH_ADD(hh, sums->by_key, key, sizeof(sum->key), sum);
	if (!sum->hh.tbl) {
		free(sum);
		return NULL;
	}
	sums->n_bytes += sum->n_bytes;
	return use(sums, sum, now_us);
}

struct slot_sum *slot_sums_add(struct slot_sums *sums, const struct slot_key *key,
			       struct profile *profile, uint64_t now_us)
{
	struct slot_sum *sum = add(sums, key, profile_bytes(profile), now_us);

	if (!sum)
		return NULL;
	sum->profile = profile;
	make_room(sums);
	return sum;
}

struct slot_sum *slot_sums_add_counts(struct slot_sums *sums, const struct slot_key *key,
				      struct count_slot *counts, uint64_t now_us)
{
	struct slot_sum *sum = add(sums, key, count_slot_bytes(counts), now_us);

	if (!sum)
		return NULL;
	sum->counts = counts;
	make_room(sums);
	return sum;
}

void slot_sums_release(struct slot_sums *sums, struct slot_sum *sum)
{
	assert(sum->n_users > 0);
	sum->n_users--;
	make_room(sums);
}

struct profile *slot_sum_profile(const struct slot_sum *sum)
{
	return sum->profile;
}

const struct count_slot *slot_sum_counts(const struct slot_sum *sum)
{
	return sum->counts;
}

void slot_sums_expire(struct slot_sums *sums, uint64_t now_us)
{
	struct slot_sum *next;

	for (struct slot_sum *sum = sums->oldest; sum; sum = next) {
		next = sum->newer;
		if (sum->n_users == 0 && now_us - sum->used_us >= SLOT_SUMS_KEEP_US)
			free_sum(sums, sum);
	}
}
