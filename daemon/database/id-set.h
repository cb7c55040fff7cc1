/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of ids of the database, which are small: a bit each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_SET_MAX (1 << 24) /* larger ids are in no set */

struct id_set {
	uint64_t *words;
	size_t n_words;
};

void id_set_done(struct id_set *set);
bool id_set_has(const struct id_set *set, int64_t id);
/* 0, also of an id that is too large; or -ENOMEM. */
int id_set_put(struct id_set *set, int64_t id);
