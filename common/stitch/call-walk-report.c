/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/call-walk-report.h"

static void emit(struct call_walk *w, const struct stitched_call *call)
{
	w->room[w->result->n_callers] = *call;
	w->room[w->result->n_callers++].mark.node = 0;
}

/* Adds the levels below the records that all alignments have in common. */
static void emit_common(struct call_walk *w)
{
	const struct alignment *a = w->alignment;
	const struct task *t = w->task;
	int64_t n_rows = w->s->n_rows, first;

	if (a->too_many)
		return;
	first = task_find_level(t, a->candidates[0].top - n_rows);
	for (int64_t i = first; i >= 0; i--) {
		for (size_t k = 1; k < a->n_candidates; k++) {
			int64_t other =
				task_find_level(t, a->candidates[k].top - n_rows) - (first - i);

			if (other < 0 || t->levels[other].from != t->levels[i].from ||
			    (i < first && t->levels[other + 1].gap))
				return;
		}
		emit(w, &t->levels[i]);
		w->result->n_stitched++;
		if (t->levels[i].gap)
			return;
	}
}

void call_walk_report_ambiguous(struct call_walk *w)
{
	const struct task *t = w->task;
	int64_t oldest = w->top - (int64_t)w->s->n_rows + 1;
	struct stitched *r = w->result;

	for (size_t i = w->n_accepted; i-- > 0;)
		emit(w, &w->accepted[i]);
	for (size_t i = w->n_levels; i > 0 && t->levels[i - 1].height >= oldest; i--)
		emit(w, &t->levels[i - 1]);
	emit_common(w);
	r->callers = w->room;
	for (size_t i = 0, k = r->n_callers; i + 1 < k; i++) {
		struct stitched_call outer = w->room[--k];

		w->room[k] = w->room[i];
		w->room[i] = outer;
	}
}

void call_walk_report_levels(struct call_walk *w)
{
	struct task *t = w->task;
	size_t first_row = task_find_above(t, w->top - (int64_t)w->s->n_rows + 1 + w->shift);

	if (w->is_truncated ? w->n_believed == 0 : !w->is_joined && w->n_accepted == 0)
		return;
	*w->result = (struct stitched){
		.callers = t->levels + t->start,
		.n_callers = t->n_levels - t->start,
		.n_stitched = first_row > t->start && !w->is_truncated ? first_row - t->start : 0,
		.marker = &t->marker,
	};
}
