/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which row has which key, of the keys that were asked for lately, in two generations: what is
 * asked for in the older one moves to the younger one, and in time the older one is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/database/id-map.h"

struct recent_ids {
	struct id_map ids, older;
};

void recent_ids_done(struct recent_ids *recent);
/* Forgets all. */
void recent_ids_clear(struct recent_ids *recent);
/* Before a window: begins a generation if the last one has more than @max. */
void recent_ids_age(struct recent_ids *recent, size_t max);

/*
 * The row of @key and, in its second number, when it was seen, unless that is before @horizon: 1
 * and *@ret, 0, or -ENOMEM.
 */
int recent_ids_find(struct recent_ids *recent, struct id_key key, int64_t horizon,
		    struct id_value *ret);
/* 0 or -ENOMEM. */
int recent_ids_put(struct recent_ids *recent, struct id_key key, struct id_value value);
