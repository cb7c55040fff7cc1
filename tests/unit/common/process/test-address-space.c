/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/process/address-space.h"
#include "tests/support/random.h"

#define N_OBJECTS 5

static struct object *make_object(void)
{
	struct profile_object what = { .kind = OBJECT_FILE, .path = "/bin/x" };
	struct object *object = object_new(&what, NULL);

	assert_non_null(object);
	return object;
}

static void map(struct address_space *space, uint64_t start, uint64_t end, struct object *object)
{
	struct mapping m = { start, end, 0 - start, object };

	assert_int_equal(address_space_map(space, &m), 0);
}

static void test_an_empty_space_has_nothing(void **state)
{
	struct address_space *s = address_space_new();

	assert_null(address_space_find(s, 0));
	assert_null(address_space_find(s, UINT64_MAX));
	assert_int_equal(address_space_unmap(s, 0, UINT64_MAX), 0);
	address_space_unref(s);
}

static void test_ends_are_exclusive(void **state)
{
	struct object *o = make_object();
	struct address_space *s = address_space_new();

	map(s, 0x1000, 0x2000, o);
	assert_null(address_space_find(s, 0xfff));
	assert_ptr_equal(address_space_find(s, 0x1000)->object, o);
	assert_ptr_equal(address_space_find(s, 0x1fff)->object, o);
	assert_null(address_space_find(s, 0x2000));
	address_space_unref(s);
	object_unref(o);
}

static void test_the_last_address_of_all_can_be_mapped(void **state)
{
	struct object *a = make_object(), *b = make_object();
	struct address_space *s = address_space_new();

	map(s, 0xffffffff80000000, UINT64_MAX, a);
	assert_ptr_equal(address_space_find(s, UINT64_MAX)->object, a);
	map(s, 0xffffffffff000000, UINT64_MAX, b);
	assert_ptr_equal(address_space_find(s, UINT64_MAX)->object, b);
	assert_ptr_equal(address_space_find(s, 0xfffffffffeffffff)->object, a);
	address_space_unref(s);
	object_unref(a);
	object_unref(b);
}

static void test_a_mapping_within_another_leaves_both_ends(void **state)
{
	struct object *a = make_object(), *b = make_object();
	struct address_space *s = address_space_new();

	map(s, 0x1000, 0x9000, a);
	map(s, 0x3000, 0x4000, b);
	assert_int_equal(s->n_mappings, 3);
	assert_ptr_equal(address_space_find(s, 0x2fff)->object, a);
	assert_ptr_equal(address_space_find(s, 0x3000)->object, b);
	assert_ptr_equal(address_space_find(s, 0x4000)->object, a);
	/* Both ends still know their place in the file. */
	assert_int_equal(0x4000 + address_space_find(s, 0x4000)->shift, 0x3000);
	address_space_unref(s);
	object_unref(a);
	object_unref(b);
}

static void test_nothing_mapped_nothing_changed(void **state)
{
	struct object *a = make_object(), *b = make_object();
	struct address_space *s = address_space_new();

	map(s, 0x1000, 0x2000, a);
	map(s, 0x1800, 0x1800, b);
	assert_int_equal(address_space_unmap(s, 0x1800, 0x1800), 0);
	assert_int_equal(s->n_mappings, 1);
	assert_int_equal(a->n_refs, 2);
	assert_int_equal(b->n_refs, 1);
	address_space_unref(s);
	object_unref(a);
	object_unref(b);
}

static void test_only_other_mappings_overlap(void **state)
{
	struct object *a = make_object(), *b = make_object();
	struct mapping same = { 0x1000, 0x3000, 0x500, a }, moved = { 0x1000, 0x3000, 0x600, a };
	struct mapping other = { 0x1fff, 0x3000, 0x500, b }, beside = { 0x2000, 0x3000, 0x500, b };
	struct mapping before = { 0x800, 0x1000, 0x500, b };
	struct address_space *s = address_space_new();
	struct mapping first = { 0x1000, 0x2000, 0x500, a };

	assert_int_equal(address_space_map(s, &first), 0);
	assert_false(address_space_overlaps(s, &same));
	assert_true(address_space_overlaps(s, &moved));
	assert_true(address_space_overlaps(s, &other));
	assert_false(address_space_overlaps(s, &beside));
	assert_false(address_space_overlaps(s, &before));
	address_space_unref(s);
	object_unref(a);
	object_unref(b);
}

static void test_a_copy_goes_its_own_way(void **state)
{
	struct object *a = make_object(), *b = make_object();
	struct address_space *s = address_space_new(), *copy;

	map(s, 0x1000, 0x2000, a);
	copy = address_space_copy(s);
	map(s, 0x1000, 0x2000, b);
	assert_ptr_equal(address_space_find(s, 0x1000)->object, b);
	assert_ptr_equal(address_space_find(copy, 0x1000)->object, a);
	address_space_unref(s);
	assert_ptr_equal(address_space_find(copy, 0x1000)->object, a);
	address_space_unref(copy);
	assert_int_equal(a->n_refs, 1);
	assert_int_equal(b->n_refs, 1);
	object_unref(a);
	object_unref(b);
}

#define N_CELLS 256u

/* A space as an array of its bytes. */
struct model {
	struct object *object[N_CELLS];
	uint64_t shift[N_CELLS];
};

static void check_against_model(const struct address_space *s, const struct model *model)
{
	for (uint64_t a = 0; a < N_CELLS; a++) {
		const struct mapping *m = address_space_find(s, a);

		assert_ptr_equal(m ? m->object : NULL, model->object[a]);
		if (m)
			assert_int_equal(m->shift, model->shift[a]);
	}
	for (size_t i = 0; i < s->n_mappings; i++) {
		assert_true(s->mappings[i].start < s->mappings[i].end);
		assert_true(i == 0 || s->mappings[i - 1].end <= s->mappings[i].start);
	}
}

static bool model_overlaps(const struct model *model, const struct mapping *m)
{
	for (uint64_t a = m->start; a < m->end; a++)
		if (model->object[a] &&
		    (model->object[a] != m->object || model->shift[a] != m->shift))
			return true;
	return false;
}

static void test_any_sequence_of_changes(void **state)
{
	struct object *objects[N_OBJECTS];
	uint64_t random = 5;

	for (size_t i = 0; i < N_OBJECTS; i++)
		objects[i] = make_object();
	for (int run = 0; run < 200; run++) {
		struct model model = { 0 };
		struct address_space *s = address_space_new();

		for (int step = 0; step < 60; step++) {
			uint64_t start = random_below(&random, N_CELLS);
			uint64_t end = start + random_below(&random, N_CELLS + 1 - start);
			bool unmap = random_below(&random, 4) == 0;
			struct mapping m = { start, end, random_below(&random, 3),
					     objects[random_below(&random, N_OBJECTS)] };

			assert_int_equal(address_space_overlaps(s, &m), model_overlaps(&model, &m));
			if (unmap)
				assert_int_equal(address_space_unmap(s, start, end), 0);
			else
				assert_int_equal(address_space_map(s, &m), 0);
			for (uint64_t a = start; a < end; a++) {
				model.object[a] = unmap ? NULL : m.object;
				model.shift[a] = m.shift;
			}
			check_against_model(s, &model);
		}
		address_space_unref(s);
	}
	for (size_t i = 0; i < N_OBJECTS; i++) {
		assert_int_equal(objects[i]->n_refs, 1);
		object_unref(objects[i]);
	}
}

static void test_all_bytes_are_counted(void **state)
{
	struct object *o = make_object();
	struct address_space *s = address_space_new(), *copy;
	size_t one;

	map(s, 0x1000, 0x2000, o);
	one = s->n_bytes;
	assert_true(one > sizeof(struct mapping) + sizeof(*o));
	map(s, 0x1400, 0x1800, o);
	assert_int_equal(s->n_bytes, 3 * one);
	copy = address_space_copy(s);
	assert_int_equal(address_space_total(), 6 * one);
	assert_int_equal(address_space_unmap(copy, 0, UINT64_MAX), 0);
	assert_int_equal(copy->n_bytes, 0);
	address_space_unref(s);
	address_space_unref(copy);
	assert_int_equal(address_space_total(), 0);
	object_unref(o);
}

static void test_a_large_space_is_trimmed(void **state)
{
	struct object *o = make_object();
	struct address_space *s = address_space_new();
	size_t max;

	for (uint64_t i = 0; i < 100; i++)
		map(s, i << 12, (i << 12) + 0x1000, o);
	max = s->n_bytes / 2;
	for (int i = 0; i < 100; i++)
		address_space_trim(s, max, 42 << 12);
	assert_in_range(s->n_mappings, 49, 50);
	assert_true(s->n_bytes <= max);
	assert_non_null(address_space_find(s, 42 << 12));
	address_space_trim(s, SIZE_MAX, 0);
	assert_in_range(s->n_mappings, 49, 50);
	for (int i = 0; i < 100; i++)
		address_space_trim(s, 0, 42 << 12);
	assert_int_equal(s->n_mappings, 1);
	assert_non_null(address_space_find(s, 42 << 12));
	address_space_unref(s);
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_space_has_nothing),
		cmocka_unit_test(test_ends_are_exclusive),
		cmocka_unit_test(test_the_last_address_of_all_can_be_mapped),
		cmocka_unit_test(test_a_mapping_within_another_leaves_both_ends),
		cmocka_unit_test(test_nothing_mapped_nothing_changed),
		cmocka_unit_test(test_only_other_mappings_overlap),
		cmocka_unit_test(test_a_copy_goes_its_own_way),
		cmocka_unit_test(test_any_sequence_of_changes),
		cmocka_unit_test(test_all_bytes_are_counted),
		cmocka_unit_test(test_a_large_space_is_trimmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
