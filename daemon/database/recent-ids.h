/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which row has which key, of the keys that were asked for lately, in two generations of a limited
 * size: what is asked for in the older one moves to the younger one while there is room, and when
 * that is full, the older one is dropped and the younger one takes its place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/database/id-map.h"

struct recent_ids {
	struct id_map ids, older;
	size_t max; /* keys of a generation */
};

void recent_ids_done(struct recent_ids *recent);
/* Forgets all. */
void recent_ids_clear(struct recent_ids *recent);

/* Whether the next key begins a generation. */
bool recent_ids_full(const struct recent_ids *recent);
/* Drops the older generation, and begins one before this one is full. */
void recent_ids_begin_generation(struct recent_ids *recent);
/* Drops the older generation alone, as what is needed of it has moved. */
void recent_ids_forget_older(struct recent_ids *recent);

/*
 * The row of @key and, in its second number, when it was seen, unless that is before @horizon: 1
 * and *@ret, 0, or -ENOMEM.
 */
int recent_ids_find(struct recent_ids *recent, struct id_key key, int64_t horizon,
		    struct id_value *ret);
/* Drops the older generation first, if the younger one is full. 0 or -ENOMEM. */
int recent_ids_put(struct recent_ids *recent, struct id_key key, struct id_value value);
