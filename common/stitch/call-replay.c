/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/call-replay.h"

#define UNKNOWN_FRAME SIZE_MAX

/* A jump found: the task went on in the function of frame number @frame. */
struct jump {
	uint64_t target; /* the function */
	size_t frame;
	bool is_found;
	bool leaves; /* a function was called that leaves others */
};

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
	return w->address - w->s->rows[i].to < extent_of(w, i) ||
	       function_starts_contains(w->task->starts, w->s->rows[i].to, w->address);
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
		call_walk_set_gap(t, n);
	return n < w->n_levels;
}

/* Frames are the accepted calls, and below them the levels that they stand on. */
static size_t count_frames(const struct call_walk *w)
{
	return w->n_accepted + (w->is_joined ? w->n_levels : 0);
}

static const struct stitched_call *get_frame(const struct call_walk *w, size_t i)
{
	size_t n_below = count_frames(w) - w->n_accepted;

	return i < n_below ? &w->task->levels[i] : &w->accepted[i - n_below];
}

static int64_t height_of(const struct call_walk *w, size_t i)
{
	return get_frame(w, i)->height + (i < count_frames(w) - w->n_accepted ? w->shift : 0);
}

/* The calls above are trusted. The calls below are not, until more is known. */
static void truncate_here(struct call_walk *w)
{
	w->is_truncated = true;
	w->n_believed = 0;
	w->has_gap = true;
}

/* Drops the frames above @frame. The rest is that much higher for the hardware. */
static void leave(struct call_walk *w, size_t frame)
{
	size_t n_below = count_frames(w) - w->n_accepted;
	int64_t shift = height_of(w, count_frames(w) - 1) - height_of(w, frame);

	if (frame < n_below) {
		w->n_accepted = 0;
		w->n_popped += w->n_levels - (frame + 1);
		w->n_levels = frame + 1;
	} else {
		w->n_accepted = frame + 1 - n_below;
	}
	w->n_believed = MIN(w->n_believed, w->n_accepted);
	for (size_t i = 0; i < w->n_accepted; i++)
		w->accepted[i].height += shift;
	w->shift += shift;
}

static bool was_popped(const struct call_walk *w, uint64_t function)
{
	for (size_t i = w->n_levels; i < w->n_levels + w->n_popped; i++)
		if (w->task->levels[i].to == function)
			return true;
	return false;
}

/* Finds the topmost call of the function that went on. A function that was left cannot. */
static void find_target(const struct call_walk *w, struct jump *jump)
{
	const struct function_starts *starts = w->task->starts;
	bool may_leave = function_starts_jump_out(starts), is_left = false;

	for (jump->frame = count_frames(w); jump->frame-- > 0;) {
		uint64_t to = get_frame(w, jump->frame)->to;
		enum function_kind kind =
			may_leave ? function_starts_kind(starts, to) : FUNCTION_PLAIN;

		if (!is_left && (to == jump->target ||
				 (may_leave && function_starts_find(starts, to) == jump->target))) {
			jump->is_found = true;
			return;
		}
		jump->leaves |= kind >= FUNCTION_LEAVES;
		is_left = kind == FUNCTION_RESUMES;
	}
}

/* Whether the stack is known down to where its task began. */
static bool is_complete(const struct call_walk *w)
{
	if (count_frames(w) == 0)
		return false;
	for (size_t i = 0; i < count_frames(w); i++)
		if (get_frame(w, i)->gap)
			return false;
	return function_starts_kind(w->task->starts, get_frame(w, 0)->from) == FUNCTION_OUTERMOST;
}

static bool is_leaving(const struct function_starts *starts, uint64_t address)
{
	return function_starts_kind(starts, address) >= FUNCTION_LEAVES;
}

/*
 * Those up to @frame go on, the others were left: certainly, as a function was called that leaves.
 * If it is unknown which one goes on, each may be left, or go on, another time.
 */
static void mark_frames(struct call_walk *w, size_t frame)
{
	struct function_starts *starts = w->task->starts;

	for (size_t i = 0; i < count_frames(w); i++) {
		const struct stitched_call *call = get_frame(w, i);

		if (i <= frame) {
			function_starts_mark(starts, call->from, FUNCTION_GOES_ON);
			function_starts_mark(starts, call->to, FUNCTION_GOES_ON);
		}
		if (i > frame || frame == UNKNOWN_FRAME)
			function_starts_mark(starts, call->to, FUNCTION_WAS_LEFT);
	}
}

/* Whether both functions are known exactly, so that none is taken for another one. */
static bool knows_both(const struct call_walk *w, uint64_t to)
{
	return function_starts_is_exact(w->task->starts, to) &&
	       function_starts_is_exact(w->task->starts, w->address);
}

static enum jump_kind get_kind(struct call_walk *w, uint64_t to, const struct jump *jump)
{
	struct function_starts *starts = w->task->starts;
	enum jump_kind kind;

	kind = function_starts_jump_kind(starts, to, jump->target);
	if (is_leaving(starts, to)) { /* or its stub */
		if (!jump->is_found && is_leaving(starts, w->address))
			return JUMP_TAIL;
	} else if (kind == JUMP_TAIL || function_starts_never_calls(starts, to) ||
		   function_starts_never_calls(starts, w->address)) {
		return JUMP_TAIL;
	}
	if (jump->is_found && (jump->leaves || kind == JUMP_OUT))
		return JUMP_OUT;
	if (!knows_both(w, to)) {
		/* Returned from once too often, as from a signal handler. */
		if (!jump->is_found)
			return was_popped(w, jump->target) || kind == JUMP_OUT ? JUMP_UNKNOWN :
										 JUMP_TAIL;
		return JUMP_UNKNOWN;
	}
	if (!jump->is_found && is_complete(w)) {
		function_starts_note_tail(starts, to, jump->target);
		return JUMP_TAIL;
	}
	if (jump->leaves) {
		if (is_leaving(starts, to))
			mark_frames(w, UNKNOWN_FRAME);
		return JUMP_UNKNOWN;
	}
	if (!function_starts_has_mark(starts, to, FUNCTION_WAS_LEFT) ||
	    (jump->is_found && !function_starts_has_mark(starts, jump->target, FUNCTION_GOES_ON)))
		return JUMP_TAIL;
	/* What was left before may hold another call of the function that went on. */
	return jump->is_found && is_complete(w) ? JUMP_OUT : JUMP_UNKNOWN;
}

static void note_pending_jump(struct call_walk *w, uint64_t from, const struct jump *jump)
{
	size_t n = count_frames(w);

	w->task->pending_jump = (struct pending_jump){
		.stands = true,
		.low = height_of(w, jump->frame),
		.high = height_of(w, n - 1),
		.from = from,
		.jump_target = jump->target,
	};
}

/* The address is not in the function that the topmost frame has entered. True if it was entered
 * from there all the same, or if that frame was replaced. */
static bool pass_violation(struct call_walk *w)
{
	uint64_t to = get_frame(w, count_frames(w) - 1)->to;
	struct jump jump = { 0 };
	enum jump_kind kind;

	/* without memory the calls show it, less exactly */
	(void)function_starts_ask(w->task->starts, w->address);
	jump.target = function_starts_find(w->task->starts, w->address);
	if (jump.target == FUNCTION_STARTS_NONE ||
	    function_starts_contains(w->task->starts, to, w->address))
		return true;
	find_target(w, &jump);
	kind = get_kind(w, to, &jump);
	if (jump.is_found && !knows_both(w, to))
		note_pending_jump(w, to, &jump);
	if (kind == JUMP_OUT && jump.leaves)
		mark_frames(w, jump.frame);
	if (kind == JUMP_OUT)
		leave(w, jump.frame);
	else if (kind == JUMP_UNKNOWN)
		truncate_here(w);
	return kind != JUMP_UNKNOWN;
}

/* Whether the snapshot shows the level: its record at that height is the call of the level. */
static bool is_shown(const struct call_walk *w, const struct stitched_call *level)
{
	const struct branch_record *row = &w->s->rows[w->n_fresh];

	return w->n_fresh < w->s->n_rows && row->from == level->from && row->to == level->to;
}

/* Whether the current address is in the function that the topmost level entered. */
static bool is_entered_level(const struct call_walk *w)
{
	return function_starts_contains(w->task->starts, w->task->levels[w->n_levels - 1].to,
					w->address);
}

static bool is_on_level(const struct call_walk *w)
{
	return w->n_levels > 0 &&
	       w->task->levels[w->n_levels - 1].height == w->top - (int64_t)w->n_fresh;
}

/*
 * Neither does the address follow from the topmost level, nor is that what the snapshot shows: the
 * level's function was left for another one below, and the record, which the address follows from,
 * is that of a call that was left. So it was made anew, and looks the same, on a level below that;
 * or no function was left.
 */
static void replay_common(struct call_walk *w)
{
	size_t n_levels = w->n_levels;

	w->n_again = 0;
	do {
		w->address = w->s->rows[w->n_fresh++].from;
		w->n_levels--;
		if (is_on_level(w) && is_entered_level(w))
			break;
	} while (w->n_fresh < w->s->n_rows && is_on_level(w) && is_entered(w, w->n_fresh));
	if (is_on_level(w) && is_entered_level(w)) {
		w->n_popped += n_levels - w->n_levels;
		return;
	}
	w->n_fresh = w->s->n_rows;
	w->n_levels = 0;
	w->is_joined = false;
}

/*
 * Joins the new records to the level below them. If this snapshot shows the level, they stand on
 * it. Otherwise it must have entered the function that they are called from, or have jumped out of
 * others to it.
 */
static void join(struct call_walk *w)
{
	const struct stitched_call *level = &w->task->levels[w->n_levels - 1];
	size_t n_levels = w->n_levels;

	if (is_shown(w, level)) {
		if (!is_entered(w, w->n_fresh))
			pass_violation(w);
		return;
	}
	if (is_entered_level(w))
		return;
	if (w->n_fresh < w->s->n_rows && is_entered(w, w->n_fresh)) {
		replay_common(w);
		return;
	}
	if (pass_violation(w) && w->n_levels == n_levels)
		w->is_joined = function_starts_never_calls(w->task->starts, level->to);
}

/* The records in common cannot stand for levels, so all are replayed, on nothing. */
static void replay_all(struct call_walk *w)
{
	int64_t below = w->top - (int64_t)w->s->n_rows;

	if (w->n_fresh == w->s->n_rows)
		return;
	w->n_fresh = w->s->n_rows;
	w->n_again = 0;
	for (; w->n_levels > 0 && w->task->levels[w->n_levels - 1].height > below; w->n_levels--)
		w->n_popped++;
}

static void accept(struct call_walk *w, size_t i)
{
	const struct branch_record *row = &w->s->rows[i];

	w->accepted[w->n_accepted++] = (struct stitched_call){
		.from = row->from,
		.to = row->to,
		.height = w->top - (int64_t)i,
		.gap = w->has_gap,
	};
	w->has_gap = false;
	w->n_believed++;
}

/* The address where record @i was made, or the one sampled. */
static void go_to(struct call_walk *w, size_t i)
{
	w->address = i > 0 ? w->s->rows[i - 1].from : w->s->ip;
}

void call_replay_run(struct call_walk *w)
{
	go_to(w, w->n_fresh);
	w->is_joined = w->is_placed && is_on_level(w) && trust_only_callers(w);
	if (w->is_joined)
		join(w);
	else
		replay_all(w);
	for (size_t i = w->n_fresh; i-- > 0;) {
		accept(w, i);
		go_to(w, i);
		if (!is_entered(w, i))
			pass_violation(w);
	}
}
