/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/unwind/object-tables.h"

#define ROWS        10
#define SOON_TRIES  8     /* as in object-tables.c */
#define LATER_TURNS 8     /* likewise */
#define SLOW_TURNS  8     /* likewise */
#define SLOW_TIMES  4     /* likewise */
#define SLOW_TRIES  6     /* likewise */
#define MAX_ENTRIES 16384 /* likewise */

struct scene {
	struct table_exchange *exchange;
	struct object_tables *tables;
};

static void scene_init(struct scene *scene, size_t max_bytes)
{
	*scene = (struct scene){};
	assert_int_equal(table_exchange_new(&scene->exchange), 0);
	assert_int_equal(object_tables_new(&scene->tables, scene->exchange, max_bytes), 0);
}

static void scene_done(struct scene *scene)
{
	object_tables_free(scene->tables);
	table_exchange_free(scene->exchange);
}

static struct object *make_object(enum object_kind kind, uint64_t inode)
{
	const struct profile_object what = { .kind = kind,
					     .path = "/lib/x",
					     .major = 8,
					     .minor = 1,
					     .inode = inode,
					     .generation = 3 };
	struct object *object = object_new(&what, NULL);

	assert_non_null(object);
	return object;
}

static struct unwind_table make_table(size_t n_rows)
{
	static const uint32_t starts[ROWS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const uint16_t rule_ids[ROWS];
	static const struct unwind_rule rule = { .cfa = UNWIND_CFA_END };
	const struct unwind_rows rows = {
		.starts = starts, .rule_ids = rule_ids, .n = n_rows, .rules = &rule, .n_rules = 1
	};
	struct unwind_table table;

	assert_int_equal(unwind_table_pack(&table, &rows), 0);
	return table;
}

static size_t bytes_of_table(void)
{
	struct unwind_table table = make_table(ROWS);
	size_t n = unwind_table_bytes(&table);

	unwind_table_done(&table);
	return n;
}

/* The table, whose answer is coming or not as expected. */
static const struct unwind_table *find(const struct scene *scene, struct object *object,
				       bool expected_coming)
{
	const struct unwind_table *table;
	enum object_table state = object_tables_find(scene->tables, object, &table);

	assert_int_equal(state == OBJECT_TABLE_COMING, expected_coming);
	assert_int_equal(state == OBJECT_TABLE_THERE, table != NULL);
	return table;
}

/* Why there is none. */
static enum object_table find_none(const struct scene *scene, struct object *object)
{
	const struct unwind_table *table;
	enum object_table state = object_tables_find(scene->tables, object, &table);

	assert_null(table);
	return state;
}

static bool is_wanted(const struct scene *scene, struct wanted_table *ret)
{
	return table_exchange_take_wanted(scene->exchange, ret);
}

/* Answers the only request, which is of that inode. */
static void answer(const struct scene *scene, uint64_t inode, size_t n_rows, bool later)
{
	struct built_table built = { .table = make_table(n_rows), .later = later };
	struct wanted_table wanted;

	assert_true(is_wanted(scene, &wanted));
	assert_int_equal(wanted.inode, inode);
	built.id = wanted.id;
	table_exchange_put_built(scene->exchange, &built);
	assert_false(is_wanted(scene, &wanted));
	assert_true(object_tables_update(scene->tables));
}

static void assert_bytes(const struct scene *scene, size_t n_tables)
{
	size_t n = 0;

	assert_int_equal(object_tables_bytes(scene->tables, &n), n_tables * bytes_of_table());
	assert_int_equal(n, n_tables);
}

static void a_table_is_asked_for_once_and_comes(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	const struct unwind_table *table;
	struct wanted_table wanted;
	struct built_table built = { .table = make_table(ROWS) };
	struct scene scene;

	scene_init(&scene, 1 << 20);
	assert_null(find(&scene, object, true));
	assert_null(find(&scene, object, true));
	assert_true(is_wanted(&scene, &wanted));
	assert_false(wanted.is_vdso);
	assert_int_equal(wanted.major, 8);
	assert_int_equal(wanted.minor, 1);
	assert_int_equal(wanted.inode, 7);
	assert_int_equal(wanted.generation, 3);
	assert_false(is_wanted(&scene, &wanted));
	assert_false(object_tables_update(scene.tables));

	built.id = wanted.id;
	table_exchange_put_built(scene.exchange, &built);
	assert_null(find(&scene, object, true)); /* not taken yet */
	assert_true(object_tables_update(scene.tables));
	table = find(&scene, object, false);
	assert_non_null(table);
	assert_int_equal(table->n_rows, ROWS);
	assert_false(is_wanted(&scene, &wanted));
	assert_bytes(&scene, 1);
	object_unref(object);
	scene_done(&scene);
}

static void an_object_is_referenced_while_its_table_is_kept(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct scene scene;

	scene_init(&scene, 1 << 20);
	find(&scene, object, true);
	assert_int_equal(object->n_refs, 2);
	answer(&scene, 7, ROWS, false);
	assert_int_equal(object->n_refs, 2);
	scene_done(&scene);
	assert_int_equal(object->n_refs, 1);
	object_unref(object);
}

static void a_file_without_a_table_is_not_asked_for_again(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	find(&scene, object, true);
	answer(&scene, 7, 0, false);
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(find_none(&scene, object), OBJECT_TABLE_NONE);
		assert_false(object_tables_update(scene.tables));
	}
	assert_false(is_wanted(&scene, &wanted));
	assert_bytes(&scene, 0);
	object_unref(object);
	scene_done(&scene);
}

static void what_there_was_no_time_for_is_asked_for_in_the_next_turns(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	find(&scene, object, true);
	for (size_t i = 1; i < SOON_TRIES; i++) {
		answer(&scene, 7, 0, true);
		assert_null(find(&scene, object, true));
		assert_false(is_wanted(&scene, &wanted)); /* not twice in a turn */
		assert_true(object_tables_update(scene.tables));
		assert_null(find(&scene, object, true));
	}
	answer(&scene, 7, ROWS, false);
	assert_non_null(find(&scene, object, false));
	object_unref(object);
	scene_done(&scene);
}

static void what_often_could_not_be_had_is_asked_for_now_and_then(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	for (size_t i = 0; i < SOON_TRIES; i++) {
		find(&scene, object, true);
		answer(&scene, 7, 0, true);
		object_tables_update(scene.tables);
	}
	for (size_t i = 0; i < LATER_TURNS - 1; i++) {
		assert_int_equal(find_none(&scene, object), OBJECT_TABLE_UNKNOWN);
		assert_false(object_tables_update(scene.tables));
	}
	assert_int_equal(find_none(&scene, object), OBJECT_TABLE_UNKNOWN);
	assert_false(is_wanted(&scene, &wanted));
	object_tables_update(scene.tables);
	assert_null(find(&scene, object, true));
	answer(&scene, 7, ROWS, false);
	assert_non_null(find(&scene, object, false));
	object_unref(object);
	scene_done(&scene);
}

static void what_took_too_much_time_is_asked_for_ever_more_rarely(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct wanted_table wanted;
	uint64_t turns = SLOW_TURNS;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	find(&scene, object, true);
	for (size_t i = 0; i < SLOW_TRIES + 1; i++) {
		assert_true(is_wanted(&scene, &wanted));
		table_exchange_put_built(scene.exchange,
					 &(struct built_table){ .id = wanted.id, .slow = true });
		object_tables_update(scene.tables);
		for (size_t j = 0; j < turns; j++) {
			assert_int_equal(find_none(&scene, object), OBJECT_TABLE_UNKNOWN);
			assert_false(object_tables_update(scene.tables));
		}
		assert_false(is_wanted(&scene, &wanted));
		object_tables_update(scene.tables);
		assert_int_equal(find_none(&scene, object), OBJECT_TABLE_COMING);
		turns *= i + 1 < SLOW_TRIES ? SLOW_TIMES : 1;
	}
	answer(&scene, 7, ROWS, false);
	assert_non_null(find(&scene, object, false));
	object_unref(object);
	scene_done(&scene);
}

static void what_had_no_place_is_asked_for_later(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct wanted_table wanted = { .id = UINT64_MAX };
	struct scene scene;

	scene_init(&scene, 1 << 20);
	while (table_exchange_want(scene.exchange, &wanted))
		;
	assert_null(find(&scene, object, true));
	while (is_wanted(&scene, &wanted)) {
		assert_int_equal(wanted.id, UINT64_MAX);
		table_exchange_put_built(scene.exchange, &(struct built_table){ .id = wanted.id });
	}
	assert_true(object_tables_update(scene.tables));
	assert_null(find(&scene, object, true));
	answer(&scene, 7, ROWS, false);
	assert_non_null(find(&scene, object, false));
	object_unref(object);
	scene_done(&scene);
}

static void the_least_used_goes_first(void **state)
{
	struct object *objects[3];
	struct scene scene;

	scene_init(&scene, 2 * bytes_of_table());
	for (uint64_t i = 0; i < 3; i++)
		objects[i] = make_object(OBJECT_FILE, i);
	objects[0]->what.inode = 3;
	find(&scene, objects[0], true);
	answer(&scene, 3, ROWS, false);
	find(&scene, objects[1], true);
	answer(&scene, 1, ROWS, false);
	assert_bytes(&scene, 2);
	find(&scene, objects[0], false);
	object_tables_update(scene.tables);
	find(&scene, objects[2], true);
	answer(&scene, 2, ROWS, false);
	assert_bytes(&scene, 2);
	assert_int_equal(objects[1]->n_refs, 1);
	assert_non_null(find(&scene, objects[0], false));
	assert_non_null(find(&scene, objects[2], false));

	/* it comes again when it is needed */
	object_tables_update(scene.tables);
	find(&scene, objects[2], false);
	assert_null(find(&scene, objects[1], true));
	answer(&scene, 1, ROWS, false);
	assert_non_null(find(&scene, objects[1], false));
	assert_int_equal(objects[0]->n_refs, 1);
	for (size_t i = 0; i < 3; i++)
		object_unref(objects[i]);
	scene_done(&scene);
}

static void what_is_no_file_has_no_table(void **state)
{
	struct object *memory = make_object(OBJECT_MEMORY, 0);
	struct object *unknown = make_object(OBJECT_FILE, 0);
	struct object *vdso = make_object(OBJECT_VDSO, 0);
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	assert_int_equal(find_none(&scene, memory), OBJECT_TABLE_NONE);
	assert_int_equal(find_none(&scene, unknown), OBJECT_TABLE_NONE);
	assert_false(is_wanted(&scene, &wanted));
	assert_null(find(&scene, vdso, true));
	assert_true(is_wanted(&scene, &wanted));
	assert_true(wanted.is_vdso);
	object_unref(memory);
	object_unref(unknown);
	object_unref(vdso);
	scene_done(&scene);
}

static void without_an_exchange_there_are_none(void **state)
{
	struct object *object = make_object(OBJECT_FILE, 7);
	struct scene scene = {};

	assert_int_equal(object_tables_new(&scene.tables, NULL, 1 << 20), 0);
	for (size_t i = 0; i < 2 * LATER_TURNS; i++) {
		assert_null(find(&scene, object, false));
		assert_false(object_tables_update(scene.tables));
	}
	object_unref(object);
	scene_done(&scene);
}

/* In a table of another time it has another address. */
static void a_rule_is_of_the_table_that_is_there(void **state)
{
	struct object *objects[2] = { make_object(OBJECT_FILE, 7), make_object(OBJECT_FILE, 8) };
	const struct unwind_table *table;
	struct scene scene;
	bool by_fp;

	scene_init(&scene, bytes_of_table());
	for (size_t i = 0; i < 20; i++) {
		struct object *object = objects[i % 2];

		find(&scene, object, true);
		answer(&scene, object->what.inode, ROWS, false);
		table = find(&scene, object, false);
		for (size_t k = 0; k < 2; k++)
			assert_ptr_equal(
				object_tables_find_rule(scene.tables, object, table, 3, &by_fp),
				unwind_table_find(table, 3));
		assert_false(by_fp);
		object_tables_update(scene.tables);
	}
	object_unref(objects[0]);
	object_unref(objects[1]);
	scene_done(&scene);
}

/* Its object may have been forgotten meanwhile. */
static void an_answer_that_nobody_waits_for_is_released(void **state)
{
	struct built_table built = { .id = 1234, .table = make_table(ROWS) };
	struct wanted_table wanted = {};
	struct scene scene;

	scene_init(&scene, 1 << 20);
	assert_true(table_exchange_want(scene.exchange, &wanted));
	assert_true(is_wanted(&scene, &wanted));
	table_exchange_put_built(scene.exchange, &built);
	assert_true(object_tables_update(scene.tables));
	assert_bytes(&scene, 0);
	scene_done(&scene);
}

static void few_objects_are_remembered(void **state)
{
	struct object *first = make_object(OBJECT_FILE, 7), *object;
	struct scene scene;

	scene_init(&scene, 1 << 20);
	find(&scene, first, true);
	answer(&scene, 7, ROWS, false);
	assert_non_null(find(&scene, first, false));
	for (size_t i = 1; i < MAX_ENTRIES; i++) {
		object = make_object(OBJECT_MEMORY, 0);
		find(&scene, object, false);
		object_unref(object);
	}

	/* none goes that this turn has used: a walk may have its table */
	object = make_object(OBJECT_MEMORY, 0);
	find(&scene, object, false);
	assert_int_equal(object->n_refs, 1);
	assert_int_equal(first->n_refs, 2);

	object_tables_update(scene.tables);
	find(&scene, object, false);
	assert_int_equal(object->n_refs, 2);
	assert_int_equal(first->n_refs, 1);
	assert_bytes(&scene, 0);
	object_unref(first);
	object_unref(object);
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_asked_for_once_and_comes),
		cmocka_unit_test(an_object_is_referenced_while_its_table_is_kept),
		cmocka_unit_test(a_file_without_a_table_is_not_asked_for_again),
		cmocka_unit_test(what_there_was_no_time_for_is_asked_for_in_the_next_turns),
		cmocka_unit_test(what_often_could_not_be_had_is_asked_for_now_and_then),
		cmocka_unit_test(what_took_too_much_time_is_asked_for_ever_more_rarely),
		cmocka_unit_test(what_had_no_place_is_asked_for_later),
		cmocka_unit_test(the_least_used_goes_first),
		cmocka_unit_test(what_is_no_file_has_no_table),
		cmocka_unit_test(without_an_exchange_there_are_none),
		cmocka_unit_test(a_rule_is_of_the_table_that_is_there),
		cmocka_unit_test(an_answer_that_nobody_waits_for_is_released),
		cmocka_unit_test(few_objects_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
