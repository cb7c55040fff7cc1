/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/call-walk.h"

#include <errno.h>
#include <string.h>

#include "common/stitch/call-replay.h"
#include "common/stitch/call-walk-report.h"
#include "common/stitch/call-walk-state.h"
#include "common/util/array.h"
#include "common/util/macro.h"

/* The height of the first record of a task: far from zero, and a multiple of all numbers of
 * registers. */
#define HEIGHT_START (1ll << 40)

static bool contains(const struct call_walk *w, uint64_t start, uint64_t address)
{
	return function_starts_contains(w->task->starts, start, address);
}

static bool is_same_function(const struct call_walk *w, uint64_t a, uint64_t b)
{
	uint64_t function = function_starts_find(w->task->starts, a);

	return function != FUNCTION_STARTS_NONE && contains(w, function, b);
}

/* The level at @height and those below move up by @shift: the calls between it and the leaf were
 * left. */
static void leave_between(struct call_walk *w, int64_t height, int64_t shift)
{
	struct task *t = w->task;
	size_t n = w->n_levels;

	while (n > 0 && t->levels[n - 1].height > height)
		n--;
	for (size_t i = 0; i < n; i++)
		t->levels[i].height += shift;
	w->n_levels = n;
	w->n_popped = t->n_levels - n;
}

/*
 * Decides the kind of a pending jump, if the stack has now returned below where it was made. After
 * a tail call the running code is in the function that the record there has entered; after a jump
 * out it is in the function that the target, as many calls lower, stands on.
 */
static void resolve_pending_jump(struct call_walk *w)
{
	struct task *t = w->task;
	struct pending_jump *pending_jump = &t->pending_jump;
	const struct candidate *c = w->alignment ? &w->alignment->candidates[0] : NULL;
	int64_t below = w->top - (int64_t)w->n_fresh, above;
	bool tail, out;

	if (!pending_jump->stands)
		return;
	if (!w->alignment || w->alignment->placement != PLACE_CERTAIN || c->n_same == 0) {
		pending_jump->stands = false;
		return;
	}
	if (below >= pending_jump->high)
		return;
	pending_jump->stands = false;
	if (below <= pending_jump->low || below > t->top || t->top - below >= (int64_t)t->n_rows)
		return;
	w->address = w->n_fresh > 0 ? w->s->rows[w->n_fresh - 1].from : w->s->ip;
	tail = contains(w, task_row(t, below)->to, w->address);
	above = task_find_level(t, pending_jump->low - (pending_jump->high - below) + 1);
	out = above >= 0 && is_same_function(w, t->levels[above].from, w->address);
	if (tail == out)
		return;
	function_starts_note_jump(t->starts, pending_jump->from, pending_jump->jump_target,
				  out ? JUMP_OUT : JUMP_TAIL);
	if (out)
		leave_between(w, pending_jump->low - (pending_jump->high - below),
			      pending_jump->high - pending_jump->low);
}

/* The number of the oldest fresh records that are where they were before. */
static size_t count_again(const struct call_walk *w)
{
	int64_t oldest = w->top - (int64_t)w->n_fresh + 1;
	size_t n = 0;

	while (n < w->n_fresh && branch_record_equal(&w->s->rows[w->n_fresh - 1 - n],
						     task_row(w->task, oldest + (int64_t)n)))
		n++;
	return n;
}

/* The first of the levels without a gap up to the topmost. @kept levels were there before. */
static size_t find_start(const struct task *t, size_t kept)
{
	size_t i = t->n_levels;

	while (i > kept)
		if (t->levels[--i].gap)
			return i;
	if (t->start < i)
		return t->start;
	while (i > 0 && !t->levels[i - 1].gap)
		i--;
	return i > 0 ? i - 1 : 0;
}

static enum stitch_result get_result(const struct call_walk *w)
{
	if (w->is_truncated)
		return STITCH_INCONSISTENT;
	if (w->result->n_stitched > 0)
		return STITCH_MADE;
	if (w->n_levels + w->n_popped == 0 || w->is_joined)
		return STITCH_NONE;
	return call_walk_is_ambiguous(w) ? STITCH_AMBIGUOUS : STITCH_UNALIGNED;
}

/* The number of levels to keep: a task with several possible heights may still be in the calls up
 * to the highest. */
static size_t count_kept(const struct call_walk *w)
{
	const struct task *t = w->task;
	int64_t highest = w->top;
	size_t n = w->n_levels;

	if (!call_walk_is_ambiguous(w) || w->s->n_rows > 0)
		return n;
	for (size_t i = 0; i < w->alignment->n_candidates; i++)
		highest = MAX(highest, w->alignment->candidates[i].top);
	while (n < t->n_levels && t->levels[n].height <= highest)
		n++;
	return n;
}

static void mark_gap(struct call_walk *w)
{
	struct task *t = w->task;
	int64_t oldest = w->top - (int64_t)w->s->n_rows + 1;

	if (w->n_levels == 0 || w->is_joined)
		return;
	if (w->n_accepted > 0)
		w->accepted[0].gap = true;
	for (size_t i = w->n_levels;
	     call_walk_is_ambiguous(w) && i-- > 0 && t->levels[i].height >= oldest;)
		if (t->levels[i].height == oldest)
			call_walk_set_gap(t, i);
}

static void remember_rows(const struct call_walk *w)
{
	struct task *t = w->task;

	for (size_t i = 0; i < w->n_fresh - w->n_again; i++) {
		*task_row(t, w->top - (int64_t)i) = w->s->rows[i];
		*task_extent(t, w->top - (int64_t)i) = w->extents[i];
	}
	/* What was above stood on another call. */
	if (w->n_again < w->n_fresh && w->s->n_rows < TASK_MAX_ROWS)
		task_clear_row(t, w->top + 1);
	t->n_rows = w->s->n_rows;
	t->top = w->top;
	t->is_known = true;
}

/* Puts a call on the @n levels. If the same call was there before, on the same calls, it keeps its
 * mark. */
static void push(struct task *t, size_t n, const struct stitched_call *call)
{
	struct stitched_call *level = &t->levels[n];
	bool is_same = n < t->n_marked && level->from == call->from;
	struct stitched_call old = *level;

	*level = *call;
	if (is_same)
		level->mark = old.mark;
	else
		t->n_marked = n;
}

static int remember(struct call_walk *w)
{
	struct task *t = w->task;
	size_t kept = count_kept(w), n = kept, n_dropped, start;

	mark_gap(w);
	if (ARRAY_RESERVE(&t->levels, &t->cap_levels, n + w->n_accepted) < 0)
		return -ENOMEM;
	for (size_t i = 0; w->shift != 0 && i < w->n_levels; i++)
		t->levels[i].height += w->shift;
	if (t->marker != t->marked)
		t->n_marked = t->n_levels;
	for (size_t i = 0; i < w->n_accepted; i++)
		push(t, n++, &w->accepted[i]);
	t->n_levels = n;
	t->n_marked = MAX(t->n_marked, n);
	start = find_start(t, kept);
	n_dropped = n > TASK_MAX_LEVELS ? n - TASK_MAX_LEVELS : 0;
	if (n_dropped > 0) {
		t->n_levels = TASK_MAX_LEVELS;
		memmove(t->levels, t->levels + n_dropped, t->n_levels * sizeof(*t->levels));
		start = start > n_dropped ? start - n_dropped : 0;
	}
	if (n_dropped > 0 || start != t->start)
		t->marker = 0;
	t->marked = t->marker;
	t->start = start;
	remember_rows(w);
	return 0;
}

/* The height of the newest record. If it is unknown, the snapshot gets heights without a common
 * register. */
static int64_t find_top(const struct call_walk *w)
{
	const struct task *t = w->task;
	const struct snapshot *s = w->s;
	int64_t top = HEIGHT_START, depth = s->depth;

	if (t->is_known)
		top = w->n_levels > 0 ? t->levels[w->n_levels - 1].height : t->top;
	top += s->n_rows;
	return s->has_index ? top + (depth + (int64_t)s->index - top % depth) % depth : top;
}

static size_t count_until_gap(const struct task *t)
{
	size_t n = MIN(t->n_levels, 1u);

	while (n < t->n_levels && !t->levels[n].gap)
		n++;
	return n;
}

static void place(struct call_walk *w)
{
	struct task *t = w->task;
	const struct alignment *a = w->alignment;

	if (t->version != function_starts_version(t->starts))
		memset(t->extents, 0, sizeof(t->extents));
	t->version = function_starts_version(t->starts);
	w->n_fresh = w->s->n_rows;
	w->n_levels = t->n_levels;
	if (!a || a->placement == PLACE_UNKNOWN) {
		w->n_levels = count_until_gap(t);
		w->top = find_top(w);
		return;
	}
	w->top = a->candidates[0].top;
	w->n_fresh -= a->candidates[0].n_same;
	w->is_placed = a->placement != PLACE_AMBIGUOUS;
	while (w->n_levels > 0 && t->levels[w->n_levels - 1].height > w->top - (int64_t)w->n_fresh)
		w->n_levels--;
	if (a->candidates[0].is_unseen && w->n_levels > 0 &&
	    t->levels[w->n_levels - 1].height == w->top - (int64_t)w->n_fresh)
		w->n_levels--;
	w->n_popped = t->n_levels - w->n_levels;
}

int call_walk_run(struct stitched *ret, struct stitched_call *room, struct task *task,
		  const struct snapshot *s, const struct alignment *alignment)
{
	struct stitched_call accepted[TASK_MAX_ROWS];
	uint32_t extents[TASK_MAX_ROWS] = { 0 };
	struct call_walk w = {
		.result = ret,
		.room = room,
		.task = task,
		.s = s,
		.alignment = alignment,
		.accepted = accepted,
		.extents = extents,
	};
	enum placement placement = alignment ? alignment->placement : PLACE_UNKNOWN;
	bool is_spread;

	*ret = (struct stitched){ 0 };
	if (placement == PLACE_CERTAIN && task->is_sure)
		snapshot_align_note_pace(task, &alignment->candidates[0]);
	place(&w);
	w.n_again = count_again(&w);
	resolve_pending_jump(&w);
	call_replay_run(&w);
	is_spread = call_walk_is_ambiguous(&w) && !w.is_truncated && !w.is_joined;
	if (is_spread)
		call_walk_report_ambiguous(&w);
	task->is_sure = placement == PLACE_CERTAIN ||
			(placement == PLACE_LIKELY && alignment->n_candidates == 1);
	if (remember(&w) < 0)
		return -ENOMEM;
	if (!is_spread)
		call_walk_report_levels(&w);
	return get_result(&w);
}
