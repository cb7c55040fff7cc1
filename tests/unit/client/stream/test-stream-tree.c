/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where streams end, and what becomes of loops. A letter is a branch from and to its own frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/stream/line-stream.h"
#include "tests/support/profile-fixture.h"

struct path {
	const char *branches;
	uint64_t hits;
};

static void add_path(struct profile *p, const struct path *path)
{
	uint32_t node = PROFILE_NONE;

	for (const char *b = path->branches; *b; b++)
		node = fixture_index(
			profile_add_stream(p, &(struct profile_stream){
						      .parent = node,
						      .from = { 0, (uint8_t)*b },
						      .to = { 0, (uint8_t)*b },
						      .hits = b[1] == '\0' ? path->hits : 0,
					      }));
}

/* The branches of a row, hottest first, that is the frames two by two. */
static void get_text(const struct view_line_streams *streams, size_t i, char *ret)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(streams->tree, streams->rows[i].node, path);

	for (size_t k = 0; k < n; k += 2)
		*ret++ = (char)stream_tree_node(streams->tree, path[k])->ends[SIDE_OLD].at.offset;
	*ret = '\0';
}

static struct view_line_streams *view(struct profile *p, const struct path *paths, size_t n,
				      uint32_t depth)
{
	struct view_line_streams *streams;
	struct places places = { .profile = p };

	fixture_object(p, "/usr/bin/demo", 1);
	fixture_process(p, "demo", "/usr/bin/demo");
	for (size_t i = 0; i < n; i++)
		add_path(p, &paths[i]);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(view_line_streams(&streams, &places, depth), 0);
	return streams;
}

static void assert_row(const struct view_line_streams *streams, size_t i, const char *expected,
		       uint64_t hits, uint32_t n_continuations)
{
	char text[STREAM_DEPTH_MAX + 1];

	assert_true(i < streams->n_rows);
	get_text(streams, i, text);
	assert_string_equal(text, expected);
	assert_int_equal(streams->rows[i].hits, hits);
	assert_int_equal(streams->rows[i].n_continuations, n_continuations);
}

static void test_a_stream_ends_where_its_paths_fork(void **state)
{
	static const struct path paths[] = {
		{ "abcd", 50 }, { "abce", 45 }, { "ax", 5 }, { "q", 3 }, { "qr", 6 },
	};
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		view(p, paths, ARRAY_SIZE(paths), STREAM_DEPTH_FORKS);

	assert_int_equal(streams->n_rows, 3);
	assert_row(streams, 0, "abc", 95, 2);
	assert_row(streams, 1, "q", 9, 1); /* too few hits to tell */
	assert_row(streams, 2, "a", 5, 1); /* x; those of the first row do not count */
}

static void test_a_depth(void **state)
{
	static const struct path paths[] = { { "abc", 5 }, { "abd", 4 }, { "ae", 2 }, { "f", 1 } };
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		view(p, paths, ARRAY_SIZE(paths), 4);

	assert_int_equal(streams->n_rows, 3);
	assert_row(streams, 0, "ab", 9, 2);
	assert_row(streams, 1, "ae", 2, 0);
	assert_row(streams, 2, "f", 1, 0);
}

static void test_turns_of_a_loop_fold(void **state)
{
	/* the last one ends within a turn */
	static const struct path paths[] = {
		{ "ababc", 40 },
		{ "abababc", 30 },
		{ "abc", 20 },
		{ "abababa", 10 },
	};
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		view(p, paths, ARRAY_SIZE(paths), STREAM_DEPTH_FORKS);
	const struct stream_tree_node *end;

	assert_int_equal(streams->n_rows, 2);
	assert_row(streams, 0, "abc", 90, 0);
	assert_row(streams, 1, "ab", 10, 0);
	end = stream_tree_node(streams->tree, streams->rows[1].node);
	assert_int_equal(end->n_loop, 4);
	assert_int_equal(end->fewest, 1);
	assert_int_equal(end->most, 3);
}

static void test_inner_loops_may_differ(void **state)
{
	static const struct path paths[] = { { "aabaaab", 10 } };
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		view(p, paths, ARRAY_SIZE(paths), STREAM_DEPTH_FORKS);
	uint32_t path[STREAM_DEPTH_MAX];

	assert_row(streams, 0, "ab", 10, 0);
	stream_tree_path(streams->tree, streams->rows[0].node, path);
	assert_int_equal(stream_tree_node(streams->tree, path[1])->fewest, 2);
	assert_int_equal(stream_tree_node(streams->tree, path[1])->most, 3);
	assert_int_equal(stream_tree_node(streams->tree, path[3])->n_loop, 4);
	assert_int_equal(stream_tree_node(streams->tree, path[3])->most, 2);
}

static void test_nothing(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		view(p, NULL, 0, STREAM_DEPTH_FORKS);

	assert_int_equal(streams->n_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stream_ends_where_its_paths_fork),
		cmocka_unit_test(test_a_depth),
		cmocka_unit_test(test_turns_of_a_loop_fold),
		cmocka_unit_test(test_inner_loops_may_differ),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
