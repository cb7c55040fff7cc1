/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/protocol/framing.h"

#include <errno.h>
#include <string.h>

/* Fills in @n bytes, in pieces of at most @piece. */
static int feed(struct framing *f, const char *bytes, size_t n, size_t piece)
{
	while (n > 0) {
		size_t n_room, part;
		char *room;
		int r = framing_reserve(f, &room, &n_room);

		if (r < 0)
			return r;
		assert_true(n_room > 0);
		part = n < piece ? n : piece;
		part = part < n_room ? part : n_room;
		memcpy(room, bytes, part);
		framing_fill(f, part);
		bytes += part;
		n -= part;
	}
	return 0;
}

static void assert_next(struct framing *f, const char *expected)
{
	char *text;
	size_t n;

	assert_true(framing_has_message(f));
	assert_int_equal(framing_next(f, &text, &n), 1);
	assert_int_equal(n, strlen(expected));
	assert_string_equal(text, expected);
}

static void assert_nothing(struct framing *f)
{
	char *text;
	size_t n;

	assert_false(framing_has_message(f));
	assert_int_equal(framing_next(f, &text, &n), 0);
}

static void messages_in_pieces_of_any_size(void **state)
{
	static const char bytes[] = "one\0\0three, which is longer\0fo"; /* one of no bytes, too */

	for (size_t piece = 1; piece < sizeof(bytes) + 1; piece++) {
		struct framing f;

		framing_init(&f, 100);
		assert_false(framing_holds_bytes(&f));
		assert_int_equal(feed(&f, bytes, sizeof(bytes) - 1, piece), 0);
		assert_next(&f, "one");
		assert_next(&f, "");
		assert_next(&f, "three, which is longer");
		assert_nothing(&f);
		assert_true(framing_holds_bytes(&f));
		assert_int_equal(feed(&f, "ur", 3, piece), 0);
		assert_next(&f, "four");
		assert_false(framing_holds_bytes(&f));
		framing_done(&f);
	}
}

/* Taken one by one as they come, so that the buffer is moved and grows between. */
static void many_messages(void **state)
{
	struct framing f;
	char text[400];

	framing_init(&f, sizeof(text));
	for (size_t i = 0; i < 5000; i++) {
		memset(text, 'a' + (int)(i % 26), sizeof(text));
		text[i % 399] = '\0';
		assert_int_equal(feed(&f, text, i % 399 + 1, 7 + i % 90), 0);
		if (i % 3 == 0)
			continue; /* two wait then */
		if (i % 3 == 1) {
			char before[400];

			memset(before, 'a' + (int)((i - 1) % 26), sizeof(before));
			before[(i - 1) % 399] = '\0';
			assert_next(&f, before);
		}
		assert_next(&f, text);
		assert_nothing(&f);
	}
	framing_done(&f);
}

static void the_longest_and_one_more(void **state)
{
	for (size_t max = 0; max < 10000; max = max * 3 + 1) {
		char *bytes = malloc(max + 2), *text;
		struct framing f;
		size_t n;

		memset(bytes, 'x', max + 1);
		bytes[max] = '\0';
		framing_init(&f, max);
		assert_int_equal(feed(&f, bytes, max + 1, SIZE_MAX), 0);
		assert_next(&f, bytes);

		bytes[max] = 'x';
		bytes[max + 1] = '\0';
		n = max + 2;
		/* found out without the NUL, if the reader asks; with it, by what comes out */
		if (feed(&f, bytes, n, SIZE_MAX) == 0) {
			assert_true(framing_has_message(&f));
			assert_int_equal(framing_next(&f, &text, &n), -EMSGSIZE);
		}
		framing_done(&f);
		free(bytes);
	}
}

/* A stream without a NUL is refused once it is too long, whatever the pieces. */
static void no_end(void **state)
{
	for (size_t piece = 1; piece < 3000; piece = piece * 2 + 1) {
		struct framing f;
		int r = 0;

		framing_init(&f, 1000);
		for (size_t i = 0; r == 0 && i < 3000; i++)
			r = feed(&f, "yyyyyyyyyy", 10, piece);
		assert_int_equal(r, -EMSGSIZE);
		assert_true(f.cap <= 1001);
		framing_done(&f);
	}
}

/* What a long message needed is given back. */
static void memory_goes_back(void **state)
{
	size_t n = 3 << 20, n_room;
	char *bytes = calloc(1, n), *room;
	struct framing f;

	memset(bytes, 'z', n - 1);
	framing_init(&f, n);
	assert_int_equal(feed(&f, bytes, n, SIZE_MAX), 0);
	assert_next(&f, bytes);
	assert_int_equal(framing_reserve(&f, &room, &n_room), 0);
	assert_true(f.cap <= 65536);
	framing_done(&f);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_in_pieces_of_any_size),
		cmocka_unit_test(many_messages),
		cmocka_unit_test(the_longest_and_one_more),
		cmocka_unit_test(no_end),
		cmocka_unit_test(memory_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
