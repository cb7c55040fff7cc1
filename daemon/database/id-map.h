/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table from keys of three numbers to values of two; it only grows, until it is emptied.
 * What the store remembers of numbers it gave, or was given.
 *
 * The entries are in one piece, in the order in which they were added. The slots have of each its
 * number and a part of its hash, so that most of a search stays in little memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct id_key {
	int64_t a, b, c;
};

struct id_value {
	int64_t id, more;
};

struct id_map {
	struct id_entry *entries; /* room for two thirds of the slots */
	struct id_slot *slots;
	size_t n, n_slots; /* a power of two, at least a third of them free */
	uint64_t seed; /* of the hash: else users could choose addresses that make searches long */
	size_t n_next; /* it starts with as many slots, by what it had when it was emptied */
};

void id_map_done(struct id_map *map);
/* Forgets all, and gives the memory back. */
void id_map_clear(struct id_map *map);
/* Forgets all, too, and gives it to the caller. */
struct id_map id_map_take(struct id_map *map);

/* Of memory. */
size_t id_map_bytes(const struct id_map *map);

/* The value, to be read or changed until the next id_map_put(); NULL where there is none. */
struct id_value *id_map_find(const struct id_map *map, struct id_key key);
/* Adds or replaces. 0 or -ENOMEM. */
int id_map_put(struct id_map *map, struct id_key key, struct id_value value);
