/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

void id_set_done(struct id_set *set)
{
	free(set->words);
}

bool id_set_has(const struct id_set *set, int64_t id)
{
	return id >= 0 && (size_t)id / 64 < set->n_words && set->words[id / 64] >> id % 64 & 1;
}

static int grow(struct id_set *set, size_t n)
{
	uint64_t *words = reallocarray(set->words, n, sizeof(*words));

	if (!words)
		return -ENOMEM;
	memset(words + set->n_words, 0, (n - set->n_words) * sizeof(*words));
	set->words = words;
	set->n_words = n;
	return 0;
}

int id_set_put(struct id_set *set, int64_t id)
{
	size_t word = (size_t)id / 64;

	if (id < 0 || id >= ID_SET_MAX)
		return 0;
	if (word >= set->n_words && grow(set, MAX(word + 1, 2 * set->n_words)) < 0)
		return -ENOMEM;
	set->words[word] |= (uint64_t)1 << id % 64;
	return 0;
}
