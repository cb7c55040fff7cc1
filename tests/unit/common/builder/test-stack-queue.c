/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks that wait are counted as those that do not: the nodes of two trees are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/builder/stack-queue.h"
#include "tests/support/random.h"

#define N_STACKS  20000
#define MAX_NODES 4096

static struct waiting_stack random_stack(uint64_t *random)
{
	struct waiting_stack s = {
		.callers = path_begin((uint32_t)random_below(random, 3)),
		.n_frames = 1 + (uint32_t)random_below(random, STACK_QUEUE_FRAMES),
		.n_stitched = (uint32_t)random_below(random, 3),
		.weight = 1 + random_below(random, 9),
	};

	for (uint32_t i = 0; i < s.n_frames; i++)
		s.frames[i] = 1 + random_below(random, 5);
	return s;
}

static void count_at_once(struct path_tree *tree, const struct waiting_stack *s)
{
	struct path path = s->callers;

	for (uint32_t i = 0; i < s->n_frames; i++)
		assert_int_equal(path_tree_get(tree, &path, s->frames[i], 0, 0), 0);
	stack_queue_count_leaf(&tree->nodes[path.node], s->weight, s->n_stitched);
}

static void assert_same_nodes(const struct path_tree *a, const struct path_tree *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_true(a->n_nodes > 1000);
	for (size_t i = 1; i < a->n_nodes; i++)
		assert_memory_equal(&a->nodes[i], &b->nodes[i], sizeof(a->nodes[i]));
}

static void test_all_are_counted(void **state)
{
	struct stack_queue queue = { 0 };
	struct path_tree waited, truth;
	uint64_t random = 1;

	assert_int_equal(path_tree_init(&waited, MAX_NODES), 0);
	assert_int_equal(path_tree_init(&truth, MAX_NODES), 0);
	for (size_t i = 0; i < N_STACKS; i++) {
		struct waiting_stack s = random_stack(&random);

		assert_int_equal(stack_queue_put(&queue, &waited, &s), 0);
		count_at_once(&truth, &s);
		assert_true(truth.n_nodes - waited.n_nodes <= STACK_QUEUE_MAX_NODES);
		if (i % 1000 == 0)
			assert_int_equal(stack_queue_flush(&queue, &waited), 0);
	}
	assert_int_equal(stack_queue_flush(&queue, &waited), 0);
	assert_same_nodes(&waited, &truth);
	path_tree_done(&waited);
	path_tree_done(&truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
