/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of ids of the database: they are counted up for as long as it lives, and those of a set are
 * close together, so that some share a word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set {
	struct id_word *words;
	size_t n, n_words; /* a power of two, at least a third of them free */
};

void id_set_done(struct id_set *set);
bool id_set_has(const struct id_set *set, int64_t id);
/* 0, also of a negative id, which is in no set; or -ENOMEM. */
int id_set_put(struct id_set *set, int64_t id);
