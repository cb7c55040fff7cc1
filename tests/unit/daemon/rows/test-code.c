/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code of hot functions: which is kept, once, how long, and how much of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"
#include "tests/support/temp-store.h"

#define MACHINE 62

struct reader {
	unsigned int n_calls;
	bool gone; /* the files */
};

static int read_code(const struct profile *profile, const struct profile_function *function,
		     void *ret, size_t n, uint16_t *ret_machine, void *userdata)
{
	struct reader *reader = userdata;

	reader->n_calls++;
	assert_int_equal(n, function->size);
	memset(ret, (int)(function->start & 0xff), n);
	*ret_machine = MACHINE;
	return reader->gone ? 0 : (int)n;
}

static void add_function(struct profile *p, uint32_t process, uint32_t object, uint64_t start,
			 uint64_t size, uint64_t samples)
{
	struct profile_function f = { .object = object, .start = start, .size = size, .name = "f" };

	assert_true(profile_add_function(p, &f) >= 0);
	if (samples > 0)
		fixture_stack(p, process, PROFILE_NONE, object, start, samples);
}

/* Of a file with a build-id (its first byte), and of one without. */
static struct profile *make_profile(uint8_t build_id)
{
	struct profile *p = fixture_new();
	uint32_t with = fixture_object(p, "/bin/with", build_id);
	uint32_t without = fixture_object(p, "/bin/without", 0);
	uint32_t process = fixture_process(p, "x", NULL);

	add_function(p, process, with, 0x1001, 16, 500);
	add_function(p, process, with, 0x2002, 32, 400);
	add_function(p, process, with, 0x3003, STORE_CODE_MAX_FUNCTION + 1, 300);
	add_function(p, process, without, 0x4004, 16, 900);
	fixture_stack(p, process, PROFILE_NONE, PROFILE_NONE, 0x9999, 8000);
	add_function(p, process, with, 0x20005, 16, 10); /* less than a thousandth */
	return fixture_finalized(p);
}

static struct store *open_store(struct reader *reader)
{
	struct store *store = temp_store_open(":memory:", 0);

	store_set_code_source(store, read_code, reader);
	return store;
}

static int find(struct store *store, uint8_t first, uint64_t start, uint8_t *ret, size_t n)
{
	uint8_t build_id[20] = { first };
	struct store_function function = { .build_id = build_id,
					   .n_build_id = sizeof(build_id),
					   .start = start };
	struct fault fault;
	uint16_t machine = 0;
	int r = store_find_code(store, &function, ret, n, &machine, &fault);

	assert_true(r >= 0);
	assert_true(r == 0 || machine == MACHINE);
	return r;
}

static void add_window(struct store *store, uint64_t i, const struct profile *p)
{
	struct window window = temp_store_window(i);

	temp_store_add(store, &window, p);
}

static void hot_functions_are_kept_once(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(7);
	struct reader reader = {};
	_cleanup_(store_freep) struct store *store = open_store(&reader);
	uint8_t code[64];

	add_window(store, 1, p);
	assert_int_equal(reader.n_calls, 2);
	assert_int_equal(find(store, 7, 0x1001, code, sizeof(code)), 16);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(code[i], 0x01);
	assert_int_equal(find(store, 7, 0x2002, code, sizeof(code)), 32);
	assert_int_equal(find(store, 7, 0x2002, code, 5), 5);
	assert_int_equal(code[4], 0x02);
	assert_int_equal(find(store, 7, 0x3003, code, sizeof(code)), 0);
	assert_int_equal(find(store, 0, 0x4004, code, sizeof(code)), 0);
	assert_int_equal(find(store, 7, 0x20005, code, sizeof(code)), 0);
	assert_int_equal(find(store, 8, 0x1001, code, sizeof(code)), 0);
	add_window(store, 2, p);
	assert_int_equal(reader.n_calls, 2);
}

static void what_cannot_be_read_is_tried_again(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(7);
	struct reader reader = { .gone = true };
	_cleanup_(store_freep) struct store *store = open_store(&reader);
	uint8_t code[64];

	add_window(store, 1, p);
	assert_int_equal(find(store, 7, 0x1001, code, sizeof(code)), 0);
	reader.gone = false;
	add_window(store, 2, p);
	assert_int_equal(find(store, 7, 0x1001, code, sizeof(code)), 16);
}

static void a_store_without_source_keeps_none(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(7);
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	uint8_t code[64];

	add_window(store, 1, p);
	assert_int_equal(find(store, 7, 0x1001, code, sizeof(code)), 0);
}

/* A window adds a quarter of a MiB at most, and of its functions the hottest few. */
static void there_is_an_end_to_it(void **state)
{
	struct profile *p = fixture_new();
	_cleanup_(profile_freep) struct profile *owner = p;
	uint32_t object = fixture_object(p, "/bin/large", 9),
		 process = fixture_process(p, "x", NULL);
	struct reader reader = {};
	_cleanup_(store_freep) struct store *store = open_store(&reader);
	uint8_t code[64];

	for (uint64_t i = 0; i < 6; i++)
		add_function(p, process, object, i << 20, STORE_CODE_MAX_FUNCTION, 1000 - i);
	for (uint64_t i = 0; i < 50; i++)
		add_function(p, process, object, 1 << 24 | i << 8, 16, 900 - i);
	fixture_finalized(p);
	add_window(store, 1, p);
	assert_int_equal(reader.n_calls, 4);
	assert_int_equal(find(store, 9, 3 << 20, code, sizeof(code)), sizeof(code));
	assert_int_equal(find(store, 9, 4 << 20, code, sizeof(code)), 0);
	add_window(store, 2, p);
	assert_int_equal(find(store, 9, 4 << 20, code, sizeof(code)), sizeof(code));
	for (uint64_t i = 3; i < 10; i++)
		add_window(store, i, p);
	assert_int_equal(reader.n_calls, 32);
}

/* Whoever runs ever new code takes no room from the windows. */
static void code_is_a_part_of_the_database(void **state)
{
	struct temp_store stored;
	struct reader reader = {};
	struct store *store;
	sqlite3 *db;

	temp_store_init(&stored);
	store = temp_store_open(stored.path, 4 << 20);
	store_set_code_source(store, read_code, &reader);
	for (uint64_t i = 1; i <= 40; i++) {
		_cleanup_(profile_freep) struct profile *p = fixture_new();
		uint32_t object = fixture_object(p, "/bin/x", (uint8_t)i);
		uint32_t process = fixture_process(p, "x", NULL);

		for (uint64_t k = 0; k < 4; k++)
			add_function(p, process, object, k << 20, STORE_CODE_MAX_FUNCTION, 100);
		add_window(store, i, fixture_finalized(p));
	}
	assert_int_equal(temp_store_status(store).n_removed, 0);
	store_free(store);
	db = temp_store_connect(stored.path);
	assert_in_range(temp_store_number(db, "SELECT sum(length(bytes)) FROM code"), 512 << 10,
			768 << 10);
	sqlite3_close(db);
	temp_store_done(&stored);
}

/* Of windows that were removed nothing stays, and what others name does. */
static void code_goes_with_its_function(void **state)
{
	struct reader reader = {};
	struct temp_store stored;
	struct store *store;
	uint8_t code[64];
	sqlite3 *db;

	temp_store_init(&stored);
	store = temp_store_open(stored.path, 1);
	store_set_code_source(store, read_code, &reader);
	for (uint64_t i = 1; i <= 200; i++) {
		_cleanup_(profile_freep) struct profile *p = make_profile((uint8_t)i);

		add_window(store, i, p);
		assert_int_equal(find(store, (uint8_t)i, 0x1001, code, sizeof(code)), 16);
	}
	assert_int_equal(find(store, 1, 0x1001, code, sizeof(code)), 0);
	store_free(store);
	temp_store_check(stored.path);
	db = temp_store_connect(stored.path);
	assert_true(temp_store_number(db, "SELECT count(*) FROM code") > 0);
	assert_true(temp_store_number(db, "SELECT count(*) FROM code") < 2 * 200);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM code "
					       "WHERE function NOT IN (SELECT id FROM function)"),
			 0);
	sqlite3_close(db);
	temp_store_done(&stored);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hot_functions_are_kept_once),
		cmocka_unit_test(what_cannot_be_read_is_tried_again),
		cmocka_unit_test(a_store_without_source_keeps_none),
		cmocka_unit_test(there_is_an_end_to_it),
		cmocka_unit_test(code_is_a_part_of_the_database),
		cmocka_unit_test(code_goes_with_its_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
