/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks and streams in bounded memory, against all their paths counted one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/builder/branch-table.h"
#include "common/builder/path-prune.h"
#include "common/builder/stack-prune.h"
#include "common/builder/stream.h"
#include "common/util/macro.h"
#include "tests/naive/tally.h"
#include "tests/support/random.h"

#define N_CONTEXTS 3
#define N_PATHS    20000
#define MAX_STEPS  40

/* A name for the path that has one step more: what is not told apart would be no more than bad
 * luck. */
static uint64_t longer(uint64_t path, uint64_t step)
{
	path = (path + step * 0x9e3779b97f4a7c15ull + 1) * 0xbf58476d1ce4e5b9ull;
	path = (path ^ path >> 29) * 0x94d049bb133111ebull;
	return path ^ path >> 32;
}

/* The truth: of each path how many samples went through it, and how many are exactly it. */
static void count_path(struct tally *truth, uint64_t path, bool is_end)
{
	struct tally_entry e = { .key = { path }, .count = { 1, is_end } };

	tally_add(truth, &e);
}

static uint64_t true_count(const struct tally *truth, uint64_t path, size_t i)
{
	const uint64_t key[TALLY_KEYS] = { path };
	const struct tally_entry *e = tally_find(truth, key);

	return e ? e->count[i] : 0;
}

/* The same of a tree: through, exactly, pruned. */
static void count_tree(struct tally *counts, const struct path_tree *tree)
{
	uint64_t *names = calloc(tree->n_nodes, sizeof(*names));
	uint64_t *through = calloc(tree->n_nodes, sizeof(*through));

	for (size_t i = tree->n_nodes; i-- > 1;) {
		assert_true(tree->nodes[i].parent < i);
		assert_true(tree->nodes[i].pruned <= tree->nodes[i].hits);
		through[i] += tree->nodes[i].hits;
		through[tree->nodes[i].parent] += through[i];
	}
	for (size_t i = 1; i < tree->n_nodes; i++) {
		const struct path_node *node = &tree->nodes[i];
		struct tally_entry e = { .count = { through[i], node->hits - node->pruned,
						    node->pruned, node->missed } };

		names[i] = longer(node->parent == PATH_ROOT ? node->context : names[node->parent],
				  node->from);
		e.key[0] = names[i];
		tally_add(counts, &e);
	}
	tally_merge(counts);
	free(names);
	free(through);
}

/*
 * A walk through a few hundred branches, newest first: mostly the way that is usual in this
 * context, so that there are paths of many samples and many of one.
 */
static size_t random_walk(uint64_t *random, uint32_t context, struct branch_record *rows)
{
	size_t n = 1 + random_below(random, MAX_STEPS);
	uint64_t at = random_below(random, 8), way = random_below(random, 30);

	for (size_t i = 0; i < n; i++) {
		if (random_below(random, 40) == 0)
			way = random_below(random, 30);
		at = (at * 5 + way * 7 + context) % 200 + 1;
		rows[i] = (struct branch_record){ .from = at, .to = 1, .flags = (at % 3) << 4 };
		if (random_below(random, 50) == 0)
			rows[i].flags |= BRANCH_RECORD_AFTER_GAP;
	}
	return n;
}

static void count_walk(struct tally *truth, uint32_t context, const struct branch_record *rows,
		       size_t n)
{
	uint64_t path = context;

	for (size_t i = 0; i < n; i++) {
		bool is_end = i == n - 1 || rows[i].flags & BRANCH_RECORD_AFTER_GAP;

		path = longer(path, rows[i].from);
		count_path(truth, path, is_end);
		if (is_end)
			break;
	}
}

/* No path is said to have had more than it had, nor less but for the error that is told. */
static void check_streams(const struct tally *truth, const struct path_tree *tree, uint32_t error)
{
	struct tally counts = { 0 };

	count_tree(&counts, tree);
	for (size_t i = 0; i < truth->n; i++) {
		const struct tally_entry *e = &truth->entries[i];
		uint64_t through = true_count(&counts, e->key[0], 0);
		uint64_t exactly = true_count(&counts, e->key[0], 1);

		assert_in_range(e->count[0], through, through + error);
		assert_in_range(e->count[1], exactly, exactly + error);
	}
	for (size_t i = 0; i < counts.n; i++)
		assert_true(true_count(truth, counts.entries[i].key[0], 0) <=
			    counts.entries[i].count[0] + counts.entries[i].count[3]);
	tally_done(&counts);
}

static void add_stream(struct stream_queue *queue, struct path_tree *tree, uint32_t context,
		       const struct branch_record *rows, size_t n)
{
	const struct counted_snapshot snapshot = { .rows = rows,
						   .n_rows = (uint32_t)n,
						   .context = context };

	assert_int_equal(stream_queue_put(queue, tree, &snapshot), 1);
}

/* The error in the end. */
static uint32_t try_streams(uint64_t seed, size_t max_nodes, size_t n_paths, uint32_t light)
{
	struct branch_record rows[STREAMS_WAITING + 1][MAX_STEPS];
	struct stream_queue queue = { 0 };
	struct tally truth = { 0 };
	struct path_tree tree;
	uint32_t error;
	uint64_t random = seed, hits = 0;

	assert_int_equal(path_tree_init(&tree, max_nodes), 0);
	for (size_t i = 0; i < n_paths; i++) {
		uint32_t context = (uint32_t)random_below(&random, N_CONTEXTS);
		struct branch_record *row = rows[i % ARRAY_SIZE(rows)];
		size_t n = random_walk(&random, context, row);

		add_stream(&queue, &tree, context, row, n);
		assert_true(tree.n_nodes <= max_nodes);
		count_walk(&truth, context, row, n);
	}
	assert_int_equal(stream_queue_flush(&queue, &tree), 0);
	tally_merge(&truth);
	check_streams(&truth, &tree, path_prune_error(&tree));
	assert_int_equal(stream_prune(&tree, light), 0);
	error = path_prune_error(&tree);
	check_streams(&truth, &tree, error);
	for (size_t i = 0; i < tree.n_nodes; i++)
		hits += tree.nodes[i].hits;
	assert_int_equal(hits, n_paths);
	path_tree_done(&tree);
	tally_done(&truth);
	return error;
}

static void test_few_streams_are_exact(void **state)
{
	assert_int_equal(try_streams(1, 1 << 17, 999, 0), 0);
	assert_int_equal(try_streams(1, 1 << 17, 999, 1), 1);
}

static void test_streams_lack_less_than_a_thousandth(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++)
		assert_in_range(try_streams(seed, 1 << 17, N_PATHS, 0), 1, N_PATHS / 1000);
}

/* Also where there is far too little room, the error is known. */
static void test_streams_in_little_room(void **state)
{
	static const size_t sizes[] = { 256, 300, 1000, 5000 };

	for (uint64_t seed = 1; seed <= 3; seed++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			assert_true(try_streams(seed, sizes[i], N_PATHS, 0) > N_PATHS / 1000);
}

static size_t bytes_of(const struct path_tree *tree)
{
	return tree->max_nodes * sizeof(*tree->nodes) + (sizeof(*tree->slots) << tree->bits);
}

/* Ten times as many paths, each of them another one: not a byte more. */
static void test_memory_does_not_grow_with_the_paths(void **state)
{
	struct stream_queue queue = { 0 };
	struct branch_record rows[MAX_STEPS];
	struct path_tree tree;
	uint64_t random = 7;
	size_t bytes = 0;

	assert_int_equal(path_tree_init(&tree, 4096), 0);
	for (size_t i = 0; i < 100000; i++) {
		for (size_t k = 0; k < MAX_STEPS; k++)
			rows[k] = (struct branch_record){
				.from = 1 + random_below(&random, RUN_MAX_BYTES), .to = 1
			};
		add_stream(&queue, &tree, 0, rows, MAX_STEPS);
		assert_int_equal(stream_queue_flush(&queue, &tree), 0);
		if (i == 9999)
			bytes = bytes_of(&tree);
	}
	assert_int_equal(bytes_of(&tree), bytes);
	assert_true(tree.n_nodes > 2048 && tree.n_nodes <= 4096);
	assert_true(bytes <= 8192 * (sizeof(*tree.nodes) + 4 * sizeof(*tree.slots)));
	path_tree_done(&tree);
}

static const struct path_node *go_on(struct path_tree *tree, struct path *path, uint64_t from,
				     uint64_t to)
{
	assert_int_equal(path_tree_get(tree, path, from, to, 0), 0);
	return &tree->nodes[path->node];
}

static void test_cycles_are_of_all_below(void **state)
{
	static const struct branch_record rows[] = {
		{ .from = 5, .to = 6, .flags = 7 << 4 },
		{ .from = 3, .to = 4, .flags = 5 << 4 },
		{ .from = 1, .to = 2, .flags = 3 << 4 },
	};
	struct stream_queue queue = { 0 };
	struct path_tree tree;
	struct path path = path_begin(0);
	const struct path_node *node;

	assert_int_equal(path_tree_init(&tree, 1000), 0);
	add_stream(&queue, &tree, 0, rows, 3);
	add_stream(&queue, &tree, 0, rows, 2);
	add_stream(&queue, &tree, 0, rows, 2);
	assert_int_equal(stream_queue_flush(&queue, &tree), 0);
	node = go_on(&tree, &path, 5, 6);
	assert_int_equal(node->amount, 21);
	node = go_on(&tree, &path, 3, 4);
	assert_int_equal(node->amount, 15);
	assert_int_equal(node->hits, 2);
	node = go_on(&tree, &path, 1, 2);
	assert_int_equal(node->amount, 3);
	assert_int_equal(node->hits, 1);
	path_tree_done(&tree);
}

/* Where a path ends, or does not begin. */
static void test_a_path_goes_on_by_runs(void **state)
{
	static const struct {
		struct branch_record rows[3]; /* newest first */
		bool gaps;
		int begun;
		size_t steps;
	} cases[] = {
		{ { { 9, 8, 0 }, { 7, 6, 0 }, { 5, 4, 0 } }, false, 1, 3 },
		{ { { 9, 8, 0 }, { 7, 6, 0 }, { 5, 4, 0 } }, true, 1, 1 },
		{ { { 9, 8, BRANCH_RECORD_AFTER_GAP }, { 7, 6, 0 }, { 5, 4, 0 } }, false, 1, 1 },
		{ { { 9, 8, 0 }, { 7, 10, 0 }, { 5, 4, 0 } }, false, 1, 1 },
		{ { { RUN_MAX_BYTES + 6, 8, 0 }, { 7, 6, 0 }, { 5, 4, 0 } }, false, 1, 3 },
		{ { { RUN_MAX_BYTES + 7, 8, 0 }, { 7, 6, 0 }, { 5, 4, 0 } }, false, 1, 1 },
		{ { { 9, 8, 0 }, { 7, 6, 0 }, { 5, 0, 0 } }, false, 1, 2 },
		{ { { 9, 8, 0 }, { 7, 6, BRANCH_RECORD_SPEC_WRONG_PATH }, { 5, 4, 0 } },
		  false,
		  1,
		  1 },
		{ { { 9, 8, BRANCH_RECORD_SPEC_WRONG_PATH }, { 7, 6, 0 }, { 5, 4, 0 } },
		  false,
		  0,
		  0 },
		{ { { 0, 8, 0 }, { 7, 6, 0 }, { 5, 4, 0 } }, false, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct counted_snapshot snapshot = { .rows = cases[i].rows,
							   .n_rows = 3,
							   .gaps = cases[i].gaps };
		struct stream_queue queue = { 0 };
		struct path_tree tree;

		assert_int_equal(path_tree_init(&tree, 1000), 0);
		assert_int_equal(stream_queue_put(&queue, &tree, &snapshot), cases[i].begun);
		assert_int_equal(stream_queue_flush(&queue, &tree), 0);
		assert_int_equal(tree.n_nodes - 1, cases[i].steps);
		assert_int_equal(tree.n_paths, cases[i].begun);
		path_tree_done(&tree);
	}
}

/* The addresses of a call stack, the outermost first. */
static size_t random_stack(uint64_t *random, uint64_t *frames)
{
	size_t n = 1 + random_below(random, 20);

	for (size_t i = 0; i < n; i++)
		frames[i] = 0x1000 * (i + 1) +
			    (random_below(random, 3) > 0 ? 0 : random_below(random, 9));
	return n;
}

static void add_stack(struct path_tree *tree, uint32_t context, const uint64_t *frames, size_t n)
{
	struct path path = path_begin(context);

	if (tree->n_nodes + n > tree->max_nodes)
		assert_int_equal(stack_prune_half(tree), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(path_tree_get(tree, &path, frames[i], 0, stack_missed(tree)), 0);
	tree->nodes[path.node].hits++;
	tree->nodes[path.node].amount += 10;
	tree->n_paths++;
}

static void check_stacks(const struct tally *truth, const struct tally *leaves,
			 const struct path_tree *tree)
{
	struct tally counts = { 0 }, found = { 0 };

	count_tree(&counts, tree);
	for (size_t i = 0; i < truth->n; i++) {
		const struct tally_entry *e = &truth->entries[i];
		uint64_t through = true_count(&counts, e->key[0], 0);
		uint64_t exactly = true_count(&counts, e->key[0], 1);
		uint64_t pruned = true_count(&counts, e->key[0], 2);

		assert_true(e->count[0] <= through + tree->rarest);
		assert_true(e->count[0] >= through - pruned);
		assert_in_range(e->count[1], exactly, exactly + tree->rarest);
	}
	for (size_t i = 1; i < tree->n_nodes; i++) {
		const struct path_node *node = &tree->nodes[i];
		struct tally_entry e = { .key = { node->context, node->from },
					 .count = { node->hits, node->amount } };

		if (node->hits > 0)
			tally_add(&found, &e);
	}
	tally_merge(&found);
	assert_true(tally_equal(&found, leaves, "leaves"));
	tally_done(&found);
	tally_done(&counts);
}

static void try_stacks(uint64_t seed, size_t max_nodes, uint32_t most_missed)
{
	struct tally truth = { 0 }, leaves = { 0 };
	struct path_tree tree;
	uint64_t random = seed;

	assert_int_equal(path_tree_init(&tree, max_nodes), 0);
	for (size_t i = 0; i < N_PATHS; i++) {
		uint32_t context = (uint32_t)random_below(&random, N_CONTEXTS);
		uint64_t frames[20], path = context;
		size_t n = random_stack(&random, frames);
		struct tally_entry leaf = { .key = { context, frames[n - 1] }, .count = { 1, 10 } };

		add_stack(&tree, context, frames, n);
		assert_true(tree.n_nodes <= max_nodes);
		for (size_t k = 0; k < n; k++) {
			path = longer(path, frames[k]);
			count_path(&truth, path, k + 1 == n);
		}
		tally_add(&leaves, &leaf);
	}
	tally_merge(&truth);
	tally_merge(&leaves);
	check_stacks(&truth, &leaves, &tree);
	assert_true(tree.rarest <= most_missed);
	assert_true(most_missed == 0 || tree.rarest > 0);
	path_tree_done(&tree);
	tally_done(&truth);
	tally_done(&leaves);
}

static void test_stacks_that_find_room_are_exact(void **state)
{
	try_stacks(1, 1 << 20, 0);
}

/* What every function has itself is exact, whatever the room. */
static void test_stacks_in_little_room(void **state)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		try_stacks(seed, 1200, N_PATHS);
		try_stacks(seed, 4000, N_PATHS / 5);
		try_stacks(seed, 40000, N_PATHS / 1000);
	}
}

static void stitched_frames_do_not_wrap(void **state)
{
	struct path_node node = { .stitched = UINT32_MAX - 5 };

	path_node_add_stitched(&node, 5);
	assert_int_equal(node.stitched, UINT32_MAX);
	path_node_add_stitched(&node, 5);
	assert_int_equal(node.stitched, UINT32_MAX);
}

/* A path of many steps, twice in the same tree; the nodes that were read are given back on the way.
 */
static void test_a_released_tree_can_be_read_on_and_used_again(void **state)
{
	const uint64_t n = 200000;
	struct path_tree tree;

	assert_int_equal(path_tree_init(&tree, n + 1), 0);
	for (uint64_t round = 0; round < 2; round++) {
		struct path path = path_begin(1);

		for (uint64_t i = 1; i <= n; i++)
			assert_int_equal(path_tree_get(&tree, &path, i + round, 0, 0), 0);
		assert_int_equal(tree.n_nodes, n + 1);
		path_tree_drop_index(&tree);
		for (uint64_t i = 1; i <= n; i++) {
			assert_true(tree.nodes[i].from == i + round);
			if (i % 1000 == 0)
				path_tree_drop_nodes(&tree, i);
		}
		assert_true(tree.nodes[n / 2].from == 0);
		assert_int_equal(path_tree_reset(&tree), 0);
	}
	path_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_streams_are_exact),
		cmocka_unit_test(test_streams_lack_less_than_a_thousandth),
		cmocka_unit_test(test_streams_in_little_room),
		cmocka_unit_test(test_memory_does_not_grow_with_the_paths),
		cmocka_unit_test(test_cycles_are_of_all_below),
		cmocka_unit_test(test_a_path_goes_on_by_runs),
		cmocka_unit_test(test_stacks_that_find_room_are_exact),
		cmocka_unit_test(test_stacks_in_little_room),
		cmocka_unit_test(test_a_released_tree_can_be_read_on_and_used_again),
		cmocka_unit_test(stitched_frames_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
