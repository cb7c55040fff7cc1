/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/tick-counts.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_SPACES  65536u /* address spaces that are known; ticks of more are not told apart */
#define MAX_WAITING 65536u /* ticks that wait */

struct key {
	int32_t pid;
	uint32_t space;
};

struct space {
	UT_hash_handle hh;
	struct key key;
	struct process_context *context;
	bool wanted;
};

struct tick_counts {
	struct tick_counts_settings with;
	struct ticks *ticks;
	struct space *spaces; /* seen in this window */
	struct tick *waiting; /* for what introduces their process */
	size_t n_waiting, cap_waiting;
	bool last;
};

int tick_counts_new(struct tick_counts **ret, const struct tick_counts_settings *settings)
{
	struct tick_counts *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->with = *settings;
	t->ticks = sampler_ticks(settings->sampler);
	*ret = t;
	return 0;
}

static void forget_spaces(struct tick_counts *t)
{
	struct space *space, *next;

	HASH_ITER(hh, t->spaces, space, next) {
		HASH_DEL(t->spaces, space);
		process_context_unref(space->context);
		free(space);
	}
}

struct tick_counts *tick_counts_free(struct tick_counts *counts)
{
	if (!counts)
		return NULL;
	forget_spaces(counts);
	free(counts->waiting);
	free(counts);
	return NULL;
}

static struct space *find_space(struct tick_counts *t, const struct key *key)
{
	struct space *space;

	HASH_FIND(hh, t->spaces, key, sizeof(*key), space);
	return space;
}

static struct space *add_space(struct tick_counts *t, const struct key *key)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->key = *key;
	HASH_ADD(hh, t->spaces, key, sizeof(space->key), space);
	if (space->hh.tbl) /* else uthash has found no memory */
		return space;
	free(space);
	return NULL;
}

int tick_counts_note(struct tick_counts *counts, const struct sample *sample,
		     struct process_context *context, bool wanted)
{
	const struct key key = { context->pid, sample->space };
	struct space *space = find_space(counts, &key);

	if (!space && HASH_COUNT(counts->spaces) >= MAX_SPACES)
		return 0;
	if (!space)
		space = add_space(counts, &key);
	if (!space)
		return -ENOMEM;
	space->wanted = wanted;
	if (space->context == context)
		return 0;
	process_context_unref(space->context);
	space->context = process_context_ref(context);
	return 0;
}

void tick_counts_plan(struct tick_counts *counts, uint64_t ns)
{
	ticks_plan(counts->ticks, ns);
}

static int count(struct tick_counts *t, const struct tick *tick, struct process_context *context,
		 bool wanted)
{
	const struct builder_ticks ticks = { tick->ip, tick->n, tick->weight };

	if (!context)
		return -ENOMEM;
	if (wanted)
		return builder_add_ticks(t->with.builder, t->with.processes, context, &ticks);
	sampler_refuse_ticks(t->with.sampler, tick->n);
	return 0;
}

static int on_tick(const struct tick *tick, void *userdata)
{
	struct tick_counts *t = userdata;
	const struct key key = { tick->pid, tick->space };
	const struct space *space = find_space(t, &key);

	if (space)
		return count(t, tick, space->context, space->wanted);
	if (t->last || t->n_waiting == MAX_WAITING)
		return count(t, tick, processes_find(t->with.processes, tick->pid), true);
	if (ARRAY_RESERVE(&t->waiting, &t->cap_waiting, t->n_waiting + 1) < 0)
		return -ENOMEM;
	t->waiting[t->n_waiting++] = *tick;
	return 0;
}

int tick_counts_take(struct tick_counts *counts, uint64_t ns, bool last)
{
	struct tick_counts *t = counts;
	size_t n = t->n_waiting;
	int r = 0;

	t->last = last;
	if (ns >= clock_ns(CLOCK_MONOTONIC))
		ticks_plan(t->ticks, clock_ns(CLOCK_MONOTONIC));
	t->n_waiting = 0;
	for (size_t i = 0; i < n && r >= 0;
	     i++) { /* those that go on waiting fill up what is read */
		const struct tick tick = t->waiting[i];

		r = on_tick(&tick, t);
	}
	if (r >= 0)
		r = ticks_take(t->ticks, on_tick, t);
	if (last)
		forget_spaces(t);
	return r;
}

int tick_counts_relieve(struct tick_counts *counts, uint64_t ns, bool always)
{
	int r;

	if (!always && !ticks_are_many(counts->ticks))
		return 0;
	r = tick_counts_take(counts, UINT64_MAX, false);
	ticks_plan(counts->ticks, ns);
	return r;
}
