/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "daemon/window/window-code.h"
#include "tests/support/profile-fixture.h"

struct fixture {
	struct profile *profile;
	struct profile_function trusted, forged, newer; /* of one build-id and offset */
};

static struct profile_function in(uint32_t object)
{
	return (struct profile_function){ .object = object, .start = 0x100, .size = 4 };
}

static uint32_t add_untrusted(struct profile *profile, uint64_t ctime_ns)
{
	return fixture_index(profile_add_object(profile, &(struct profile_object){
								 .kind = OBJECT_FILE,
								 .path = "/home/x/a",
								 .build_id = { 1 },
								 .n_build_id = 20,
								 .inode = 7,
								 .ctime_ns = ctime_ns,
								 .untrusted = true,
							 }));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->profile = fixture_new();
	f->trusted = in(fixture_object(f->profile, "/usr/bin/a", 1));
	f->forged = in(add_untrusted(f->profile, 5));
	f->newer = in(add_untrusted(f->profile, 6));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	profile_free(f->profile);
	free(f);
	return 0;
}

static struct window_code *code_of(const struct fixture *f, const struct profile_function *function,
				   const char *bytes, size_t n)
{
	struct window_code *code = window_code_new();

	assert_non_null(code);
	assert_int_equal(window_code_add(code, f->profile, function, 62, bytes, n), 0);
	return code;
}

static void assert_found(const struct fixture *f, const struct window_code *code,
			 const struct profile_function *function, const char *bytes)
{
	const struct code_piece *piece = window_code_find(code, f->profile, function);

	if (!bytes) {
		assert_null(piece);
		return;
	}
	assert_non_null(piece);
	assert_int_equal(piece->machine, 62);
	assert_int_equal(piece->n_bytes, strlen(bytes));
	assert_memory_equal(piece->bytes, bytes, strlen(bytes));
}

static void test_code_is_found_by_its_function(void **state)
{
	const struct fixture *f = *state;
	struct window_code *code = code_of(f, &f->trusted, "code", 4);
	struct profile_function other = f->trusted;

	assert_found(f, code, &f->trusted, "code");
	other.start++;
	assert_found(f, code, &other, NULL);
	assert_found(f, NULL, &f->trusted, NULL);
	window_code_free(code);
}

/* One user's file with the build-id of another must not show its code as that one's. */
static void test_files_of_one_build_id_are_kept_apart(void **state)
{
	const struct fixture *f = *state;
	struct window_code *code = code_of(f, &f->forged, "evil", 4);

	assert_found(f, code, &f->forged, "evil");
	assert_found(f, code, &f->trusted, NULL);
	assert_found(f, code, &f->newer, NULL);
	window_code_free(code);
}

static void test_joined_windows_have_the_code_of_both(void **state)
{
	const struct fixture *f = *state;
	struct window_code *code = window_code_join(code_of(f, &f->trusted, "one", 3),
						    code_of(f, &f->newer, "two", 3));

	assert_found(f, code, &f->trusted, "one");
	assert_found(f, code, &f->newer, "two");
	code = window_code_join(code, NULL);
	code = window_code_join(NULL, code);
	assert_int_equal(code->n, 2);
	assert_null(window_code_join(NULL, NULL));
	window_code_free(code);
}

static void test_what_has_no_room_is_dropped(void **state)
{
	char *bytes = calloc(1, WINDOW_CODE_MAX_BYTES);
	const struct fixture *f = *state;
	struct window_code *code;

	assert_non_null(bytes);
	code = code_of(f, &f->trusted, bytes, WINDOW_CODE_MAX_BYTES - 2);
	assert_int_equal(window_code_add(code, f->profile, &f->newer, 62, "abc", 3), 0);
	assert_found(f, code, &f->newer, NULL);
	assert_int_equal(window_code_add(code, f->profile, &f->forged, 62, "ab", 2), 0);
	assert_found(f, code, &f->forged, "ab");
	code = window_code_join(code, code_of(f, &f->newer, "c", 1));
	assert_found(f, code, &f->newer, NULL);
	assert_int_equal(code->n_bytes, WINDOW_CODE_MAX_BYTES);
	window_code_free(code);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_code_is_found_by_its_function, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_files_of_one_build_id_are_kept_apart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_joined_windows_have_the_code_of_both, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_has_no_room_is_dropped, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
