/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define MIN_SLOTS ((size_t)256)
#define MAX_SLOTS ((size_t)1 << 31)

struct id_entry {
	struct id_key key;
	struct id_value value;
};

struct id_slot {
	uint32_t hash;
	uint32_t number; /* of its entry, from 1 on; 0: the slot is free */
};

/* The finalizer of MurmurHash3 (public domain), once for each number. */
static uint64_t mix(uint64_t hash, int64_t number)
{
	hash ^= (uint64_t)number;
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdull;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53ull;
	return hash ^ hash >> 33;
}

static uint32_t hash_key(const struct id_map *map, struct id_key key)
{
	return (uint32_t)mix(mix(mix(map->seed, key.a), key.b), key.c);
}

static bool same_key(struct id_key x, struct id_key y)
{
	return x.a == y.a && x.b == y.b && x.c == y.c;
}

/* The slot of @key, or the free one where it belongs. */
static struct id_slot *find_slot(const struct id_map *map, struct id_key key, uint32_t hash)
{
	size_t mask = map->n_slots - 1, i = hash & mask;

	while (map->slots[i].number != 0) {
		const struct id_slot *slot = &map->slots[i];

		if (slot->hash == hash && same_key(map->entries[slot->number - 1].key, key))
			break;
		i = (i + 1) & mask;
	}
	return &map->slots[i];
}

static size_t max_entries(size_t n_slots)
{
	return n_slots * 2 / 3;
}

/* @to is empty. The keys of @from differ, so that none is compared. */
static void copy_slots(struct id_slot *to, size_t n_slots, const struct id_map *from)
{
	size_t mask = n_slots - 1;

	for (size_t k = 0; k < from->n_slots; k++) {
		size_t i = from->slots[k].hash & mask;

		if (from->slots[k].number == 0)
			continue;
		while (to[i].number != 0)
			i = (i + 1) & mask;
		to[i] = from->slots[k];
	}
}

static int grow(struct id_map *map)
{
	size_t n_slots = map->n_slots > 0 ? map->n_slots * 2 : MAX(MIN_SLOTS, map->n_next);
	_cleanup_free_ struct id_slot *slots = NULL;
	struct id_entry *entries;

	if (n_slots > MAX_SLOTS || ARRAY_ALLOCATE_ZEROED(&slots, n_slots) < 0)
		return -ENOMEM;
	entries = reallocarray(map->entries, max_entries(n_slots), sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	map->entries = entries;
	if (map->n_slots == 0) /* without it only the speed can be attacked */
		(void)!getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK);
	copy_slots(slots, n_slots, map);
	free(map->slots);
	map->slots = TAKE_PTR(slots);
	map->n_slots = n_slots;
	return 0;
}

void id_map_done(struct id_map *map)
{
	free(map->entries);
	free(map->slots);
}

struct id_map id_map_take(struct id_map *map)
{
	struct id_map taken = *map;
	size_t n_next = map->n_slots > 0 ? map->n_slots : map->n_next;

	*map = (struct id_map){ .n_next = map->n < map->n_slots / 8 ? n_next / 2 : n_next };
	return taken;
}

void id_map_clear(struct id_map *map)
{
	struct id_map taken = id_map_take(map);

	id_map_done(&taken);
}

size_t id_map_bytes(const struct id_map *map)
{
	return map->n_slots * sizeof(*map->slots) +
	       max_entries(map->n_slots) * sizeof(*map->entries);
}

struct id_value *id_map_find(const struct id_map *map, struct id_key key)
{
	const struct id_slot *slot;

	if (map->n == 0)
		return NULL;
	slot = find_slot(map, key, hash_key(map, key));
	return slot->number > 0 ? &map->entries[slot->number - 1].value : NULL;
}

/* Makes room for @key in a full map, unless it has it. 0 or -ENOMEM. */
static int make_room(struct id_map *map, struct id_key key)
{
	if (map->n < max_entries(map->n_slots) || id_map_find(map, key))
		return 0;
	return grow(map);
}

int id_map_put(struct id_map *map, struct id_key key, struct id_value value)
{
	struct id_slot *slot;
	uint32_t hash;

	if (make_room(map, key) < 0)
		return -ENOMEM;
	hash = hash_key(map, key); /* by the seed, which the first slots bring */
	slot = find_slot(map, key, hash);
	if (slot->number > 0) {
		map->entries[slot->number - 1].value = value;
		return 0;
	}
	map->entries[map->n++] = (struct id_entry){ key, value };
	*slot = (struct id_slot){ hash, (uint32_t)map->n };
	return 0;
}
