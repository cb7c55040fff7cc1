/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/snapshot-align.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

/*
 * The highest chance at which equal records may be equal by accident, where nothing else decides.
 */
#define CHANCE               0.016
/* The same without an index, which says which records to compare. */
#define CHANCE_WITHOUT_INDEX (CHANCE / 32)

#define EVIDENCE_MAX 32.0
#define MARGIN       8u /* times as likely as the next candidate */
#define PACE_FLOOR   (PACE_UNIT / 4)
#define PACE_HALF    32u /* snapshots, after which earlier counts weigh half */

/* How far calls that were never seen may reach above the remembered ones. */
#define UNSEEN_MAX 64

struct aligning {
	struct alignment *result;
	struct task *task;
	const struct snapshot *s;
	int64_t first, step; /* possible heights: first, first - step, ... */
	int64_t lowest;      /* the lowest level */
	int64_t highest;     /* the highest that the task may have been at the last time */
	uint64_t function;   /* that the oldest record calls from, or that holds ip */
	size_t n_levels_of_function;
	bool knows_function;
};

/*
 * The number of records in common if the newest is at @top: from the oldest on, until one differs.
 */
static uint32_t count_same(const struct aligning *a, int64_t top)
{
	struct task *t = a->task;
	const struct snapshot *s = a->s;
	int64_t oldest = top - (int64_t)s->n_rows + 1, end = MIN(top, t->top);
	uint32_t n = 0;

	if (oldest <= t->top - (int64_t)t->n_rows)
		return 0;
	for (int64_t h = oldest; h <= end; h++, n++)
		if (!branch_record_equal(task_row(t, h), &s->rows[top - h]))
			break;
	return n;
}

/* The least number of calls and returns from the last snapshot to one at @top with @n_same records
 * in common. */
static uint32_t count_steps(const struct aligning *a, int64_t top, uint32_t n_same)
{
	const struct task *t = a->task;
	int64_t below = top - (int64_t)a->s->n_rows, before = t->top;
	int64_t lowest, highest, up_first, down_first;

	if (below > before && below <= a->highest)
		before = a->highest;
	lowest = MIN(below + (int64_t)n_same, top);
	lowest = MIN(lowest, before);
	highest = MAX(top, before);
	/* A register that was in use is empty now: a call that many levels above has taken it. */
	if (a->s->n_rows < a->s->depth && below > before - (int64_t)t->n_rows)
		highest = MAX(highest, below + (int64_t)a->s->depth);
	if (highest <= top || highest <= before)
		return (uint32_t)(before - lowest + top - lowest);
	if (lowest == before || lowest == top)
		return (uint32_t)(2 * highest - before - top);
	down_first = before - lowest + highest - lowest + highest - top;
	up_first = highest - before + highest - lowest + top - lowest;
	return (uint32_t)MIN(up_first, down_first);
}

static void add_candidate(struct aligning *a, int64_t top, uint32_t n_same)
{
	struct alignment *r = a->result;

	if (r->n_candidates == ALIGN_MAX_CANDIDATES) {
		r->too_many = true;
		return;
	}
	r->candidates[r->n_candidates++] = (struct candidate){
		.top = top, .n_same = n_same, .steps = count_steps(a, top, n_same)
	};
}

/* Whether an older record is the same. */
static bool is_repeated(const struct snapshot *s, uint32_t i)
{
	for (uint32_t k = i + 1; k < s->n_rows; k++)
		if (branch_record_equal(&s->rows[k], &s->rows[i]))
			return true;
	return false;
}

/* The chance that all common records are equal by accident: the product of how frequent each is. */
static double get_chance(const struct aligning *a, const struct candidate *c, double enough)
{
	const struct snapshot *s = a->s;
	double chance = 1;

	for (uint32_t i = 0; i < c->n_same && chance >= enough; i++) {
		const struct branch_record *row = &s->rows[s->n_rows - 1 - i];
		unsigned int n = 0;

		if (!s->has_cycles && !s->has_index && is_repeated(s, s->n_rows - 1 - i))
			continue;
		for (uint32_t k = 0; k < s->n_rows; k++)
			n += branch_record_equal(&s->rows[k], row);
		chance *= (double)n / (s->n_rows + 2);
	}
	return chance;
}

static void find_common(struct aligning *a)
{
	const struct task *t = a->task;
	int64_t lowest = MIN(a->lowest, t->top - (int64_t)t->n_rows + 1);

	for (int64_t top = a->first; top - (int64_t)a->s->n_rows >= lowest - 1; top -= a->step) {
		uint32_t n_same = count_same(a, top);

		/* It has not returned from the outermost level. */
		if (n_same > 0 && top - (int64_t)a->s->n_rows + (int64_t)n_same >= a->lowest - 1)
			add_candidate(a, top, n_same);
	}
}

/* Whether @best has too many more records in common than @other for an accident. Records that
 * repeat @distance apart, as in a recursion, would be equal at both. */
static bool is_better(const struct aligning *a, const struct candidate *best,
		      const struct candidate *other)
{
	const struct snapshot *s = a->s;
	uint32_t distance = (uint32_t)MIN(llabs(best->top - other->top), s->n_rows);
	uint32_t n_same = 0;
	double chance = 1;

	if (best->n_same <= other->n_same + 1)
		return false;
	for (uint32_t i = 0; i + distance < s->n_rows; i++)
		n_same += branch_record_equal(&s->rows[i], &s->rows[i + distance]);
	for (uint32_t i = other->n_same; i < best->n_same && chance * MARGIN >= 1; i++)
		chance *= (n_same + 1.0) / (s->n_rows - distance + 2);
	return chance * MARGIN < 1;
}

/* Keeps the candidates with too much in common for an accident. Their number. */
static size_t keep_strong(struct aligning *a)
{
	struct alignment *r = a->result;
	double enough = a->s->has_index ? CHANCE : CHANCE_WITHOUT_INDEX;
	struct candidate strong[ALIGN_MAX_CANDIDATES];
	size_t n = 0, best = 0;
	bool is_best = true;

	for (size_t i = 0; i < r->n_candidates; i++)
		if (get_chance(a, &r->candidates[i], enough) < enough)
			strong[n++] = r->candidates[i];
	if (n == 0)
		return 0;
	for (size_t i = 1; i < n; i++)
		best = strong[i].n_same > strong[best].n_same ? i : best;
	for (size_t i = 0; i < n; i++)
		is_best &= i == best || is_better(a, &strong[best], &strong[i]);
	if (is_best) {
		r->candidates[0] = strong[best];
		n = 1;
	} else {
		memcpy(r->candidates, strong, n * sizeof(*strong));
	}
	r->n_candidates = n;
	return n;
}

static void count_levels_of_function(struct aligning *a)
{
	const struct task *t = a->task;

	for (size_t i = 0; a->function != FUNCTION_STARTS_NONE && i < t->n_levels; i++)
		a->n_levels_of_function += t->levels[i].to == a->function;
}

static void learn_function(struct aligning *a)
{
	const struct snapshot *s = a->s;

	a->function = function_starts_find(a->task->starts,
					   s->n_rows > 0 ? s->rows[s->n_rows - 1].from : s->ip);
	count_levels_of_function(a);
}

/* In a recursion the level below may be one that was never seen. */
static bool may_be_unseen(const struct aligning *a, int64_t below)
{
	return a->s->has_index && a->n_levels_of_function > 1 && below > a->lowest;
}

/* All records are new, and fewer than there are registers, so no call below the oldest record was
 * made since: the level there must be of the function that the record calls from. */
static void find_levels(struct aligning *a)
{
	const struct snapshot *s = a->s;
	const struct task *t = a->task;
	int64_t n = s->n_rows;

	for (int64_t top = a->first + UNSEEN_MAX / a->step * a->step; top > a->first;
	     top -= a->step)
		if (n > 0 && may_be_unseen(a, top - n))
			add_candidate(a, top, 0);
	for (int64_t top = a->first; top - n >= a->lowest; top -= a->step) {
		int64_t i = task_find_level(t, top - n);

		if (count_same(a, top) > 0)
			continue;
		if (i >= 0 ? t->levels[i].to == a->function : may_be_unseen(a, top - n))
			add_candidate(a, top, 0);
	}
	/* It stands on what the outermost level stands on. */
	if (a->result->n_candidates == 0 && s->has_index &&
	    (a->first - n - (a->lowest - 1)) % a->step == 0 &&
	    count_same(a, a->lowest - 1 + n) == 0)
		add_candidate(a, a->lowest - 1 + n, 0);
}

static uint32_t bin_of(uint32_t steps)
{
	return MIN(steps / PACE_STEP, PACE_BINS - 1);
}

static uint32_t pace_of(const struct task *t, uint32_t steps)
{
	uint32_t bin = bin_of(steps), beside = 0;

	if (bin > 0)
		beside += t->pace[bin - 1];
	if (bin + 1 < PACE_BINS)
		beside += t->pace[bin + 1];
	return t->pace[bin] + beside / 2 + PACE_FLOOR;
}

/* How much likelier the candidate is than an accident: by its records in common, or by the function
 * that it stands on. */
static double evidence_of(const struct aligning *a, const struct candidate *c)
{
	if (c->n_same > 0)
		return 1 / MAX(get_chance(a, c, CHANCE), CHANCE);
	if (c->is_unseen || a->n_levels_of_function == 0)
		return 1;
	return MIN((double)a->task->n_levels / (double)a->n_levels_of_function, EVIDENCE_MAX);
}

static void weigh(struct aligning *a)
{
	struct alignment *r = a->result;

	for (size_t i = 0; i < r->n_candidates; i++) {
		struct candidate *c = &r->candidates[i];

		c->weight = pace_of(a->task, c->steps) * evidence_of(a, c);
	}
}

/* The likeliest first; of equal ones the highest. */
static void sort_by_weight(struct aligning *a)
{
	struct alignment *r = a->result;

	for (size_t i = 1; i < r->n_candidates; i++) {
		struct candidate c = r->candidates[i];
		size_t k = i;

		for (; k > 0; k--) {
			const struct candidate *before = &r->candidates[k - 1];

			if (before->weight > c.weight ||
			    (before->weight == c.weight && before->top > c.top))
				break;
			r->candidates[k] = *before;
		}
		r->candidates[k] = c;
	}
}

static void decide_by_weight(struct aligning *a)
{
	struct alignment *r = a->result;
	bool is_full = a->s->n_rows == a->s->depth;
	double rest = 0;

	weigh(a);
	sort_by_weight(a);
	for (size_t i = 1; i < r->n_candidates; i++)
		rest += r->candidates[i].weight;
	if (a->s->has_index && (a->task->is_sure || is_full) &&
	    r->candidates[0].weight >= MARGIN * rest) {
		r->placement = PLACE_LIKELY;
		r->n_candidates = 1;
	} else if (is_full && a->s->has_index) {
		r->placement = PLACE_UNKNOWN;
	} else if (r->n_candidates == 1 && !r->too_many) {
		r->placement = PLACE_LIKELY;
	} else {
		r->placement = PLACE_AMBIGUOUS;
		while (a->s->has_index && r->candidates[r->n_candidates - 1].weight * MARGIN <=
						  r->candidates[0].weight)
			r->n_candidates--;
	}
}

/* All registers hold records, and none is known for certain: calls that were never seen may lie
 * below, at any height. */
static void find_full(struct aligning *a)
{
	const struct snapshot *s = a->s;
	const struct task *t = a->task;
	int64_t n = s->n_rows;

	for (int64_t top = a->first + UNSEEN_MAX / a->step * a->step; top - n >= a->lowest - 1;
	     top -= a->step) {
		int64_t i = task_find_level(t, top - n);
		bool fits = i >= 0 && a->function != FUNCTION_STARTS_NONE &&
			    t->levels[i].to == a->function;

		if (count_same(a, top) > 0)
			continue;
		add_candidate(a, top, 0);
		a->result->candidates[a->result->n_candidates - 1].is_unseen = !fits;
	}
}

static void snapshot_align_new_rows(struct aligning *a)
{
	struct alignment *r = a->result;
	bool is_full = a->s->n_rows == a->s->depth;

	learn_function(a);
	if (is_full)
		find_full(a);
	else
		find_levels(a);
	if (r->n_candidates == 0)
		return;
	if (r->n_candidates == 1 && !is_full && a->n_levels_of_function <= 1)
		r->placement = PLACE_CERTAIN;
	else
		decide_by_weight(a);
}

/* Without an index a single level must have entered the function that the oldest record calls from.
 * If that is in no function ever seen entered, it is the outermost. */
static void snapshot_align_without_index(struct aligning *a)
{
	const struct snapshot *s = a->s;
	const struct task *t = a->task;
	int64_t n = s->n_rows;

	a->result->n_candidates = 0;
	a->result->too_many = false;
	a->function = function_starts_find_certain(t->starts, n > 0 ? s->rows[n - 1].from : s->ip);
	count_levels_of_function(a);
	if (a->function == FUNCTION_STARTS_NONE && n > 0 && n < s->depth)
		add_candidate(a, a->lowest - 1 + n, count_same(a, a->lowest - 1 + n));
	else if (a->n_levels_of_function == 1)
		for (size_t i = 0; i < t->n_levels; i++)
			if (t->levels[i].to == a->function)
				add_candidate(a, t->levels[i].height + n, 0);
	if (a->result->n_candidates == 1)
		a->result->placement = PLACE_LIKELY;
}

void snapshot_align(struct alignment *ret, struct task *task, const struct snapshot *s)
{
	struct aligning a = { .result = ret, .task = task, .s = s, .step = 1 };
	size_t n_strong;

	ret->placement = PLACE_UNKNOWN;
	ret->n_candidates = 0;
	ret->too_many = false;
	a.highest = task->top;
	a.lowest = task->top + 1;
	if (task->n_levels > 0) {
		a.highest = MAX(a.highest, task->levels[task->n_levels - 1].height);
		a.lowest = task->levels[0].height;
	}
	a.first = a.highest + s->n_rows;
	if (s->has_index) {
		a.step = s->depth;
		a.first -= (a.first - (int64_t)s->index) % a.step;
	}
	find_common(&a);
	n_strong = keep_strong(&a);
	if (n_strong == 1)
		ret->placement = PLACE_CERTAIN;
	else if (n_strong > 1)
		decide_by_weight(&a);
	else if (!s->has_index)
		snapshot_align_without_index(&a);
	else
		snapshot_align_new_rows(&a);
}

void snapshot_align_note_pace(struct task *task, const struct candidate *candidate)
{
	task->pace[bin_of(candidate->steps)] += PACE_UNIT;
	if (++task->n_paces % PACE_HALF != 0)
		return;
	for (unsigned int i = 0; i < PACE_BINS; i++)
		task->pace[i] /= 2;
}
