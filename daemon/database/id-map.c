/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/macro.h"

#define MIN_SLOTS ((size_t)256)

struct id_slot {
	struct id_key key;
	struct id_value value;
	bool used;
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

static bool same_key(struct id_key x, struct id_key y)
{
	return x.a == y.a && x.b == y.b && x.c == y.c;
}

/* The slot of @key, or the free one where it belongs. */
static struct id_slot *find_slot(const struct id_map *map, struct id_key key)
{
	size_t mask = map->n_slots - 1, i = mix(mix(mix(0, key.a), key.b), key.c) & mask;

	while (map->slots[i].used && !same_key(map->slots[i].key, key))
		i = (i + 1) & mask;
	return &map->slots[i];
}

static int grow(struct id_map *map)
{
	struct id_map larger = { .n = map->n, .n_slots = map->n_slots * 2 };

	if (larger.n_slots == 0)
		larger.n_slots = MAX(MIN_SLOTS, map->n_next);
	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++) {
		if (map->slots[i].used)
			*find_slot(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

void id_map_done(struct id_map *map)
{
	free(map->slots);
}

void id_map_clear(struct id_map *map)
{
	size_t n_next = map->n < map->n_slots / 8 ? map->n_slots / 2 : map->n_slots;

	free(map->slots);
	*map = (struct id_map){ .n_next = n_next };
}

size_t id_map_bytes(const struct id_map *map)
{
	return map->n_slots * sizeof(*map->slots);
}

struct id_value *id_map_find(const struct id_map *map, struct id_key key)
{
	struct id_slot *slot;

	if (map->n == 0)
		return NULL;
	slot = find_slot(map, key);
	return slot->used ? &slot->value : NULL;
}

int id_map_put(struct id_map *map, struct id_key key, struct id_value value)
{
	struct id_slot *slot;

	if (map->n * 3 >= map->n_slots * 2 && grow(map) < 0)
		return -ENOMEM;
	slot = find_slot(map, key);
	map->n += !slot->used;
	*slot = (struct id_slot){ key, value, true };
	return 0;
}
