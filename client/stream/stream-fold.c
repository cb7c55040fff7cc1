/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stream/stream-fold.h"

#include "common/util/macro.h"

static bool same_branch(const struct stream_fold_step *a, const struct stream_fold_step *b)
{
	return a->branch.to == b->branch.to && a->branch.from == b->branch.from;
}

static bool same_turn(const struct stream_fold_step *a, const struct stream_fold_step *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!same_branch(&a[i], &b[i]))
			return false;
	return true;
}

/* What changed in a turn that is left out counts for the one that stays. */
static void merge(struct stream_fold_step *kept, const struct stream_fold_step *gone)
{
	kept->cycles += gone->cycles;
	kept->branch.to_changed |= gone->branch.to_changed;
	kept->branch.from_changed |= gone->branch.from_changed;
	if (gone->n_loop == 0 || gone->n_loop != kept->n_loop)
		return;
	kept->fewest = MIN(kept->fewest, gone->fewest);
	kept->most = MAX(kept->most, gone->most);
}

static void count_turn(struct stream_fold_step *last, uint32_t n)
{
	if (last->n_loop == n) {
		last->fewest++;
		last->most++;
	} else if (last->n_loop < n) {
		last->n_loop = n;
		last->fewest = last->most = 2;
	}
}

/* If the last @n steps equal those before them, one turn stays. */
static bool fold_turn(struct stream_fold *fold, size_t n)
{
	struct stream_fold_step *gone = &fold->steps[fold->n - n], *kept = gone - n;

	if (!same_turn(kept, gone, n))
		return false;
	for (size_t i = 0; i < n; i++)
		merge(&kept[i], &gone[i]);
	count_turn(&kept[n - 1], (uint32_t)n);
	fold->n -= n;
	return true;
}

static void fold_last(struct stream_fold *fold)
{
	for (size_t n = 1; 2 * n <= fold->n; n++)
		if (fold_turn(fold, n))
			return;
}

/* The end of the path has a part of another turn. */
static void drop_cut_turn(struct stream_fold *fold)
{
	size_t end = fold->n, n, n_cut;

	while (end > 0 && fold->steps[end - 1].n_loop == 0)
		end--;
	n_cut = fold->n - end;
	n = end > 0 ? fold->steps[end - 1].n_loop : 0;
	if (n_cut == 0 || n_cut >= n || !same_turn(&fold->steps[end - n], &fold->steps[end], n_cut))
		return;
	for (size_t i = 0; i < n_cut; i++)
		merge(&fold->steps[end - n + i], &fold->steps[end + i]);
	fold->n = end;
}

void stream_fold_path(struct stream_fold *ret, const struct view_streams *view,
		      const struct stream_branch *branches, uint32_t node)
{
	uint32_t path[VIEW_STREAM_MAX_ROWS];
	size_t n = view_stream_nodes(view, node, path);

	ret->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct view_stream_node *at = &view->nodes[path[i]];

		ret->steps[ret->n++] = (struct stream_fold_step){
			.branch = branches[path[i]],
			.to = at->to,
			.from = at->from,
			.cycles = at->through ? (double)at->cycles / (double)at->through : 0,
		};
		fold_last(ret);
	}
	drop_cut_turn(ret);
}
