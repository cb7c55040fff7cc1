/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/call-walk.h"

#include <errno.h>
#include <string.h>

#include "common/stitch/call-walk-report.h"
#include "common/stitch/call-walk-state.h"
#include "common/util/array.h"
#include "common/util/macro.h"

/* The height of the first record of a task: far from zero, and a multiple of all numbers of
 * registers. */
#define HEIGHT_START (1ll << 40)

/* Below level @i. */
static void set_gap(struct task *task, size_t i)
{
	task->levels[i].gap = true;
	task->start = TASK_NO_START;
}

static bool contains(const struct call_walk *w, uint64_t start, uint64_t address)
{
	return address - start < function_starts_extent(w->task->starts, start);
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

static void accept(struct call_walk *w, size_t i)
{
	const struct branch_record *row = &w->s->rows[i];

	w->accepted[w->n_accepted++] = (struct stitched_call){
		.from = row->from,
		.to = row->to,
		.height = w->top - (int64_t)i + w->shift,
	};
	w->address = row->from;
}

/* Finds a record or level that entered the function at @jump_target: records from *@i on, then the
 * topmost *@n levels. */
static bool find_jump_target(const struct call_walk *w, uint64_t jump_target, size_t *i, size_t *n)
{
	for (; *i < w->n_fresh; (*i)++)
		if (w->s->rows[*i].to == jump_target)
			return true;
	for (; *n > 0; (*n)--)
		if (w->task->levels[*n - 1].to == jump_target)
			return true;
	return false;
}

static void note_pending_jump(struct call_walk *w, int64_t low, int64_t high, uint64_t from,
			      uint64_t jump_target)
{
	if (!w->has_pending_jump)
		w->task->pending_jump = (struct pending_jump){ true, low, high, from, jump_target };
	w->has_pending_jump = true;
}

static bool was_popped(const struct call_walk *w, uint64_t function)
{
	for (size_t i = w->n_levels; i < w->n_levels + w->n_popped; i++)
		if (w->task->levels[i].to == function)
			return true;
	return false;
}

static bool is_only_one(const struct call_walk *w, uint64_t function)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_levels; i++)
		n += w->task->levels[i].to == function;
	return n == 1;
}

/* The calls above are trusted. The calls below are not, until more is known. */
static void truncate_here(struct call_walk *w)
{
	if (w->n_accepted > 0)
		w->accepted[w->n_accepted - 1].gap = true;
	if (w->is_truncated)
		return;
	w->is_truncated = true;
	w->n_believed = w->n_accepted;
}

/*
 * The address is not in the function that record *@i (or, without one, level *@n - 1) has entered
 * at @to, by the call at @height. True if that counts as a tail call, as it mostly is between
 * records of one snapshot. Otherwise *@i and *@n become the place where the stack goes on.
 */
static bool pass_violation(struct call_walk *w, uint64_t to, int64_t height, size_t *i, size_t *n)
{
	uint64_t jump_target = function_starts_find(w->task->starts, w->address);
	size_t row = MIN(*i + 1, w->n_fresh), level = *n - (*i >= w->n_fresh);
	enum jump_kind kind;
	int64_t low;

	if (jump_target == FUNCTION_STARTS_NONE)
		return true;
	if (!find_jump_target(w, jump_target, &row, &level)) {
		/* Returned from once too often, as from a signal handler. */
		if (was_popped(w, jump_target) ||
		    function_starts_jumps_out(w->task->starts, to, jump_target))
			truncate_here(w);
		return true;
	}
	kind = function_starts_jump_kind(w->task->starts, to, jump_target);
	if (kind == JUMP_TAIL)
		return true;
	if (row == w->n_fresh && !w->is_placed && !is_only_one(w, jump_target)) {
		truncate_here(w);
		return true;
	}
	low = row < w->n_fresh ? w->top - (int64_t)row : w->task->levels[level - 1].height;
	note_pending_jump(w, low, height, to, jump_target);
	if (kind == JUMP_UNKNOWN) {
		truncate_here(w);
		return true;
	}
	w->shift += height - low;
	*i = row;
	*n = level;
	return false;
}

/* An alignment by the function alone may be that of another call of it: below the records of this
 * snapshot, only those levels are certain that have no other caller. False if none is. */
static bool trust_only_callers(struct call_walk *w)
{
	struct task *t = w->task;
	size_t n;

	if (w->s->has_index || w->alignment->placement != PLACE_LIKELY)
		return true;
	n = MIN(w->n_levels, task_find_above(t, w->top - (int64_t)w->s->n_rows + 1));
	while (n > 0 && function_starts_has_one_caller(t->starts, t->levels[n - 1].to))
		n--;
	if (n < w->n_levels && n > 0)
		set_gap(t, n);
	return n < w->n_levels;
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

/* The extent of the function that record @i enters. It is kept with the record, as it is needed
 * again and again. */
static uint32_t extent_of(struct call_walk *w, size_t i)
{
	bool is_there = i >= w->n_fresh - w->n_again;
	uint32_t *extent = is_there ? task_extent(w->task, w->top - (int64_t)i) : &w->extents[i];

	if (*extent == 0)
		*extent = function_starts_extent(w->task->starts, w->s->rows[i].to);
	return *extent;
}

/* Whether the current address is in the function that record @i enters. */
static bool is_entered(struct call_walk *w, size_t i)
{
	return w->address - w->s->rows[i].to < extent_of(w, i);
}

static void walk_rows(struct call_walk *w, size_t *i, size_t *n)
{
	while (*i < w->n_fresh) {
		const struct branch_record *row = &w->s->rows[*i];

		if (is_entered(w, *i) || pass_violation(w, row->to, w->top - (int64_t)*i, i, n))
			accept(w, (*i)++);
	}
}

/* Whether the snapshot shows the level: its record at that height is the call of the level. */
static bool is_shown(const struct call_walk *w, const struct stitched_call *level)
{
	const struct branch_record *row = &w->s->rows[w->n_fresh];

	return w->n_fresh < w->s->n_rows && row->from == level->from && row->to == level->to;
}

/*
 * Joins the new records to the level below them. If this snapshot shows the level, they stand on
 * it. Otherwise it must have entered the function that they are called from, or have jumped out of
 * others to it. If neither holds but they follow from the record there, a jump out was assumed that
 * was none.
 */
static void join(struct call_walk *w, size_t *i, size_t *n)
{
	const struct stitched_call *level = &w->task->levels[*n - 1];
	size_t n_levels = *n;

	w->is_joined = true;
	if (is_shown(w, level) ? is_entered(w, w->n_fresh) : contains(w, level->to, w->address))
		return;
	if (is_shown(w, level)) {
		pass_violation(w, level->to, level->height, i, n);
		return;
	}
	if (w->n_fresh < w->s->n_rows && contains(w, w->s->rows[w->n_fresh].to, w->address)) {
		w->n_fresh = w->s->n_rows;
		w->n_again = count_again(w);
		*n = w->n_levels = 0;
		walk_rows(w, i, n);
		return;
	}
	w->is_joined = !pass_violation(w, level->to, level->height, i, n) && *n < n_levels;
}

/* Walks down the new records, and to the level that they stand on. */
static void walk_down(struct call_walk *w)
{
	const struct stitched_call *levels = w->task->levels;
	size_t i = 0, n = w->n_levels;

	w->address = w->s->ip;
	walk_rows(w, &i, &n);
	if (n < w->n_levels)
		w->is_joined = true;
	else if (w->is_placed && n > 0 && levels[n - 1].height == w->top - (int64_t)w->n_fresh &&
		 trust_only_callers(w))
		join(w, &i, &n);
	w->n_levels = n;
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
		w->accepted[w->n_accepted - 1].gap = true;
	for (size_t i = w->n_levels;
	     call_walk_is_ambiguous(w) && i-- > 0 && t->levels[i].height >= oldest;)
		if (t->levels[i].height == oldest)
			set_gap(t, i);
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
	for (size_t i = w->n_accepted; i-- > 0;)
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
	walk_down(&w);
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
