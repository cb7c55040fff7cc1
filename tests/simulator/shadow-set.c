/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shadow-set: the true call stacks of one task. The idea is described in shadow-set.h. */
#include "tests/simulator/shadow-set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/simulator/space.h"

static struct shadow *set_add(struct shadow_set *set)
{
	struct shadow **grown, *shadow = calloc(1, sizeof(*shadow));

	grown = reallocarray(set->all, set->n + 1, sizeof(*grown));
	if (grown)
		set->all = grown;
	if (!shadow || !grown) {
		free(shadow);
		return NULL;
	}
	set->all[set->n++] = shadow;
	return shadow;
}

int shadow_set_init(struct shadow_set *set)
{
	*set = (struct shadow_set){ 0 };
	set->current = set_add(set);
	return set->current ? 0 : -ENOMEM;
}

void shadow_set_clear(struct shadow_set *set)
{
	while (set->n > 1) {
		shadow_done(set->all[--set->n]);
		free(set->all[set->n]);
	}
	set->current = set->all[0];
	shadow_clear(set->current);
	set->current->start = set->current->end = 0;
}

void shadow_set_done(struct shadow_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		shadow_done(set->all[i]);
		free(set->all[i]);
	}
	free(set->all);
	*set = (struct shadow_set){ 0 };
}

/* An empty stack's pointer is its end. */
static bool holds(const struct shadow *shadow, uint64_t rsp)
{
	return rsp > shadow->start && rsp <= shadow->end;
}

/* The one that holds @rsp; one that has grown down to it still has its end. */
static struct shadow *set_find(struct shadow_set *set, pid_t tid, uint64_t rsp)
{
	struct shadow *shadow = set->current;
	uint64_t start, end;

	for (size_t i = 0; i < set->n; i++)
		if (holds(set->all[i], rsp))
			return set->all[i];
	if (space_find_range(tid, rsp - 1, &start, &end) < 0)
		return NULL;
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i]->end == end)
			shadow = set->all[i];
	if (shadow->end != end && shadow->end != 0)
		shadow = set_add(set);
	if (!shadow)
		return NULL;
	shadow->start = start;
	shadow->end = end;
	return shadow;
}

static bool is_interrupted_by(const struct shadow *shadow, const struct shadow *by)
{
	for (by = by->interrupted; by; by = by->interrupted)
		if (by == shadow)
			return true;
	return false;
}

struct shadow *shadow_set_enter(struct shadow_set *set, pid_t tid, uint64_t rsp)
{
	struct shadow *next, *to;

	if (holds(set->current, rsp))
		return set->current;
	to = set_find(set, tid, rsp);
	if (!to || to == set->current)
		return set->current;
	if (is_interrupted_by(to, set->current))
		for (struct shadow *s = set->current; s != to; s = next) {
			next = s->interrupted;
			shadow_clear(s);
		}
	set->current = to;
	return to;
}

struct shadow *shadow_set_interrupt(struct shadow_set *set, pid_t tid, uint64_t rsp)
{
	struct shadow *before = set->current, *to = set_find(set, tid, rsp);

	if (!to || to == before || is_interrupted_by(to, before))
		return shadow_set_enter(set, tid, rsp);
	shadow_clear(to);
	to->interrupted = before;
	set->current = to;
	return to;
}
