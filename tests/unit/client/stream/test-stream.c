/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "client/stream/stream.h"
#include "tests/support/profile-fixture.h"

static void test_streams_add_up_processes(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(view_streams_freep) struct view_streams *streams = NULL;
	struct view_stream_step path[VIEW_STREAM_MAX_ROWS];
	uint32_t object;

	p = fixture_new();
	object = fixture_object(p, "/usr/bin/demo", 1);
	for (int i = 0; i < 2; i++) {
		uint32_t process = fixture_process(p, "demo", "/usr/bin/demo");
		struct profile_stream stream = {
			.parent = PROFILE_NONE,
			.process = process,
			.from = { object, 0x10 },
			.to = { object, 0x110 },
			.hits = 2,
			.pruned = 1,
			.cycles = 60,
		};

		stream.parent = fixture_index(profile_add_stream(p, &stream));
		stream.from.offset = 0x20;
		stream.to.offset = 0x120;
		stream.hits = 4;
		stream.pruned = 2;
		stream.cycles = 80;
		fixture_index(profile_add_stream(p, &stream));
	}
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(view_streams(&streams, p), 0);
	assert_int_equal(streams->n_nodes, 2);
	assert_int_equal(streams->n_rows, 2);
	assert_int_equal(streams->rows[0].hits, 8);
	assert_int_equal(streams->rows[0].pruned, 4);
	assert_true(streams->rows[0].cycles == 10 + 20);
	assert_int_equal(streams->rows[1].hits, 4);
	assert_true(streams->rows[1].cycles == 10);
	assert_int_equal(view_stream_path(streams, streams->rows[0].node, path), 2);
	assert_int_equal(path[0].from.offset, 0x10); /* the newest first */
	assert_int_equal(path[1].from.offset, 0x20);
}

/* A letter is a branch at that offset. @expected has each loop once, with turns and length. */
static void assert_path(const char *branches, const char *expected)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(view_streams_freep) struct view_streams *streams = NULL;
	struct view_stream_step path[VIEW_STREAM_MAX_ROWS];
	uint32_t object, process, node = PROFILE_NONE;
	char text[200] = "";
	size_t n, at = 0;

	p = fixture_new();
	object = fixture_object(p, "/usr/bin/demo", 1);
	process = fixture_process(p, "demo", "/usr/bin/demo");
	for (const char *b = branches; *b; b++)
		node = fixture_index(profile_add_stream(
			p, &(struct profile_stream){ .parent = node,
						     .process = process,
						     .from = { object, (uint8_t)*b },
						     .to = { object, (uint8_t)*b + 0x100U },
						     .hits = b[1] == '\0' }));
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(view_streams(&streams, p), 0);
	n = view_stream_path(streams, streams->rows[0].node, path);
	for (size_t i = 0; i < n; i++) {
		if (path[i].n_turns > 0)
			at += (size_t)sprintf(text + at, "%u*%u:", path[i].n_turns, path[i].n_loop);
		text[at++] = (char)path[i].from.offset;
		text[at] = '\0';
	}
	assert_string_equal(text, expected);
}

static void test_a_path_has_each_loop_once(void **state)
{
	assert_path("abc", "abc");
	assert_path("aaaa", "4*1:a");
	assert_path("xababaty", "x2*2:abaty");
	assert_path("abcabcabcd", "3*3:abcd");
	assert_path("aabbbaabbb", "2*5:aabbb");
	assert_path("aabbaabbx", "2*4:aabbx");
	assert_path("abababab"
		    "cdcdcdcd",
		    "4*2:ab4*2:cd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_add_up_processes),
		cmocka_unit_test(test_a_path_has_each_loop_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
