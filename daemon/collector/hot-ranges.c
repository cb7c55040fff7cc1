/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/hot-ranges.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "daemon/window/hot-places.h"

static_assert(HOT_PLACES_MAX == TICKS_MAX_HOT, "each place is a range");
static_assert(HOT_PLACES_USERS == BPF_MAX_COLD_USERS, "they are copied");

static int compare_ranges(const void *x, const void *y)
{
	const struct bpf_hot_range *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->pid, b->pid));
	return COMPARE(a->start, b->start);
}

/* Whether it is mapped; then *@shift is as in struct mapping. */
static bool find_shift(const struct process_context *process, const struct hot_place *place,
		       uint64_t *shift)
{
	const struct address_space *space = process->space;

	for (size_t i = 0; i < space->n_mappings; i++) {
		const struct mapping *m = &space->mappings[i];

		*shift = m->shift;
		if (place->start - (m->start + m->shift) < m->end - m->start &&
		    hot_places_object(&m->object->what) == place->object)
			return true;
	}
	return false;
}

static bool make_range(const struct process_context *process, const struct hot_place *place,
		       struct bpf_hot_range *ret)
{
	uint64_t shift = 0;

	if (place->object != 0 && (!process || !find_shift(process, place, &shift)))
		return false;
	*ret = (struct bpf_hot_range){
		.pid = (uint32_t)place->pid,
		.start = place->start - shift,
		.end = place->end - shift,
	};
	return true;
}

/* Adds the ranges of a process, in the objects that it maps; none if it is gone. Returns how many
 * places it has. */
static size_t add_process(struct ticks_hot *to, struct processes *processes,
			  const struct hot_place *places, size_t n_places)
{
	const struct process_context *process = processes_get(processes, places[0].pid);
	bool known = process || places[0].pid == 0;
	size_t k = 0;

	for (; k < n_places && places[k].pid == places[0].pid; k++)
		to->n += known && make_range(process, &places[k], &to->ranges[to->n]);
	return k;
}

static void tell(struct ticks *ticks, struct processes *processes, const struct hot_places *places)
{
	struct ticks_hot hot = { .n_cold_users = places->n_cold_users };

	memcpy(hot.cold_users, places->cold_users, sizeof(hot.cold_users));
	for (size_t i = 0; i < places->n;)
		i += add_process(&hot, processes, &places->rows[i], places->n - i);
	qsort(hot.ranges, hot.n, sizeof(*hot.ranges), compare_ranges);
	ticks_set_hot(ticks, &hot);
}

void hot_ranges_done(struct hot_ranges *hot)
{
	free(atomic_exchange(&hot->next, NULL));
}

void hot_ranges_rank(struct hot_ranges *hot, const struct profile *profile, double share)
{
	struct hot_places *places;

	if (share > 0 && hot_places_rank(&places, profile, share) >= 0)
		free(atomic_exchange(&hot->next, places));
}

void hot_ranges_update(struct hot_ranges *hot, struct ticks *ticks, struct processes *processes)
{
	_cleanup_free_ struct hot_places *places = atomic_exchange(&hot->next, NULL);

	if (places && ticks)
		tell(ticks, processes, places);
}
