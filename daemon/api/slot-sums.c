/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/slot-sums.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/fnv.h"
#include "common/util/macro.h"

void slot_key_make(struct slot_key *ret, const struct window *windows, size_t n,
		   unsigned int tables)
{
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < n; i++) {
		hash = fnv_add_number(hash, (uint64_t)windows[i].id);
		hash = fnv_add_number(hash, windows[i].start_us);
		hash = fnv_add_number(hash, windows[i].length_us);
		hash = fnv_add_number(hash, windows[i].samples);
		hash = fnv_add_number(hash, windows[i].lost);
	}
	*ret = (struct slot_key){ n > 0 ? windows[0].id : 0, n, hash, tables };
}

static bool is_same(const struct slot_key *a, const struct slot_key *b)
{
	return a->first == b->first && a->n == b->n && a->hash == b->hash && a->tables == b->tables;
}

static void free_sum(struct slot_sums *sums, struct slot_sum **at)
{
	struct slot_sum *sum = *at;

	*at = sum->next;
	sums->n_bytes -= sum->n_bytes;
	profile_free(sum->profile);
	free(sum);
}

void slot_sums_done(struct slot_sums *sums)
{
	while (sums->first) {
		assert(sums->first->n_users == 0);
		free_sum(sums, &sums->first);
	}
}

/* The least recently used one without a user, or NULL. */
static struct slot_sum **find_oldest(struct slot_sums *sums)
{
	struct slot_sum **oldest = NULL;

	for (struct slot_sum **at = &sums->first; *at; at = &(*at)->next)
		if ((*at)->n_users == 0)
			oldest = at;
	return oldest;
}

static void make_room(struct slot_sums *sums)
{
	struct slot_sum **oldest;

	while (sums->n_bytes > SLOT_SUMS_MAX_BYTES) {
		oldest = find_oldest(sums);
		if (!oldest)
			return;
		free_sum(sums, oldest);
	}
}

static struct slot_sum *use(struct slot_sums *sums, struct slot_sum *sum, uint64_t now_us)
{
	sum->next = sums->first;
	sums->first = sum;
	sum->n_users++;
	sum->used_us = now_us;
	return sum;
}

struct slot_sum *slot_sums_find(struct slot_sums *sums, const struct slot_key *key, uint64_t now_us)
{
	for (struct slot_sum **at = &sums->first; *at; at = &(*at)->next) {
		struct slot_sum *sum = *at;

		if (!is_same(&sum->key, key))
			continue;
		*at = sum->next;
		return use(sums, sum, now_us);
	}
	return NULL;
}

struct slot_sum *slot_sums_add(struct slot_sums *sums, const struct slot_key *key,
			       struct profile *profile, uint64_t now_us)
{
	struct slot_sum *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return NULL;
	sum->key = *key;
	sum->profile = profile;
	sum->n_bytes = sizeof(*sum) + profile_bytes(profile);
	sums->n_bytes += sum->n_bytes;
	use(sums, sum, now_us);
	make_room(sums);
	return sum;
}

void slot_sums_release(struct slot_sums *sums, struct slot_sum *sum)
{
	assert(sum->n_users > 0);
	sum->n_users--;
	make_room(sums);
}

void slot_sums_expire(struct slot_sums *sums, uint64_t now_us)
{
	struct slot_sum **at = &sums->first;

	while (*at)
		if ((*at)->n_users == 0 && now_us - (*at)->used_us >= SLOT_SUMS_KEEP_US)
			free_sum(sums, at);
		else
			at = &(*at)->next;
}
