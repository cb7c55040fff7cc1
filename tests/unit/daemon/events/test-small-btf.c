/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/events/small-btf.h"

static struct btf_view view_of(const struct btf *btf)
{
	struct btf_view view;
	uint32_t n;
	const void *bytes = btf__raw_data(btf, &n);

	assert_int_equal(btf_view_init(&view, bytes, n), 0);
	return view;
}

static void add_struct(struct btf *btf, const char *name, uint32_t size)
{
	assert_true(btf__add_struct(btf, name, size) > 0);
}

static void add_field(struct btf *btf, const char *name, int type, uint32_t bit)
{
	assert_int_equal(btf__add_field(btf, name, type, bit, 0), 0);
}

/* A program that reads "pid", "mm", "list" and "bits" of tasks, and a value of an enum. */
static struct btf *new_program(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	add_struct(btf, "task_struct___old", 16);
	add_field(btf, "pid", number, 0);
	add_field(btf, "mm", number, 32);
	add_field(btf, "list", number, 64);
	add_field(btf, "bits", number, 96);
	assert_true(btf__add_enum(btf, "helpers___mine", 4) > 0);
	assert_int_equal(btf__add_enum_value(btf, "ONE___mine", 1), 0);
	return btf;
}

/* "pid" of tasks is in a member without a name; "mm" is a pointer; "list" an array. */
static struct btf *new_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), wide, ids, pointer, array;

	add_struct(btf, "mm_struct", 640);
	add_field(btf, "owner", number, 0);
	pointer = btf__add_ptr(btf, btf__type_cnt(btf) - 1);
	add_struct(btf, NULL, 8);
	ids = (int)btf__type_cnt(btf) - 1;
	add_field(btf, "pid", number, 0);
	add_field(btf, "tgid", number, 32);
	wide = btf__add_typedef(btf, "wide", btf__add_const(btf, number));
	array = btf__add_array(btf, number, wide, 3);
	add_struct(btf, "task_struct", 64);
	add_field(btf, "state", number, 0);
	add_field(btf, NULL, ids, 32);
	add_field(btf, "mm", pointer, 128);
	add_field(btf, "list", array, 192);
	assert_int_equal(btf__add_field(btf, "bits", number, 291, 5), 0);
	assert_true(btf__add_enum(btf, "helpers", 4) > 0);
	assert_int_equal(btf__add_enum_value(btf, "ONE", 1), 0);
	assert_int_equal(btf__add_enum_value(btf, "TWO", 2), 0);
	assert_true(btf__add_func(btf, "mm", BTF_FUNC_STATIC, btf__add_func_proto(btf, 0)) > 0);
	return btf;
}

static int make(const struct btf *kernel, const struct btf *program, struct btf **ret)
{
	struct btf_view all = view_of(kernel), wanted = view_of(program);
	_cleanup_free_ void *bytes = NULL;
	size_t n = 0;
	int r = small_btf_make(&all, &wanted, &bytes, &n);

	*ret = r == 0 ? btf__new(bytes, (uint32_t)n) : NULL;
	assert_true(r < 0 || *ret);
	return r;
}

static const struct btf_type *find(const struct btf *btf, const char *name, uint32_t kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

static const struct btf_type *assert_member(const struct btf *btf, const struct btf_type *type,
					    size_t i, const char *name, uint32_t bit, uint32_t kind)
{
	const struct btf_type *member = btf__type_by_id(btf, btf_members(type)[i].type);

	assert_string_equal(btf__name_by_offset(btf, btf_members(type)[i].name_off), name);
	assert_int_equal(btf_member_bit_offset(type, (uint32_t)i), bit);
	assert_int_equal(btf_kind(member), kind);
	return member;
}

static void test_what_the_program_reads_is_kept(void **state)
{
	struct btf *kernel = new_kernel(), *program = new_program(), *small;
	const struct btf_type *task, *type;

	assert_int_equal(make(kernel, program, &small), 0);
	task = find(small, "task_struct", BTF_KIND_STRUCT);
	assert_non_null(task);
	assert_int_equal(task->size, 64);
	assert_int_equal(btf_vlen(task), 4);
	type = assert_member(small, task, 0, "", 32, BTF_KIND_STRUCT);
	assert_int_equal(btf_vlen(type), 1);
	assert_member(small, type, 0, "pid", 0, BTF_KIND_INT);
	type = assert_member(small, task, 1, "mm", 128, BTF_KIND_PTR);
	assert_int_equal(type->type, 0);
	type = assert_member(small, task, 2, "list", 192, BTF_KIND_ARRAY);
	assert_int_equal(btf_array(type)->nelems, 3);
	assert_int_equal(btf_array(type)->type,
			 btf__find_by_name_kind(small, "wide", BTF_KIND_TYPEDEF));
	assert_member(small, task, 3, "bits", 291, BTF_KIND_INT);
	assert_int_equal(btf_member_bitfield_size(task, 3), 5);
	type = find(small, "helpers", BTF_KIND_ENUM);
	assert_non_null(type);
	assert_int_equal(btf_vlen(type), 2);
	assert_string_equal(btf__name_by_offset(small, btf_enum(type)[1].name_off), "TWO");
	assert_int_equal(btf_enum(type)[1].val, 2);
	btf__free(small);
	btf__free(program);
	btf__free(kernel);
}

static void test_nothing_else_is_kept(void **state)
{
	struct btf *kernel = new_kernel(), *program = new_program(), *small;

	assert_int_equal(make(kernel, program, &small), 0);
	assert_null(find(small, "mm_struct", BTF_KIND_STRUCT));
	assert_null(find(small, "mm", BTF_KIND_FUNC));
	/* of the program's names: a task, its unnamed part, a pointer, an array with three types
	 * of its own, an enum */
	assert_int_equal(btf__type_cnt(small) - 1, 8);
	btf__free(small);
	btf__free(program);
	btf__free(kernel);
}

static void test_a_type_that_is_not_there(void **state)
{
	struct btf *kernel = new_kernel(), *program = new_program(), *small;

	add_struct(kernel, "task_struct", 4);
	add_field(kernel, "pid", 99, 0);
	assert_int_equal(make(kernel, program, &small), -EBADMSG);
	btf__free(program);
	btf__free(kernel);
}

/* Each shorter one has fewer types, or a broken one. */
static void test_types_that_are_cut_off(void **state)
{
	struct btf *kernel = new_kernel(), *program = new_program();
	struct btf_view all = view_of(kernel), wanted = view_of(program);
	uint32_t whole = all.n_types, at, next = 0;
	size_t n_sound = 0;

	for (at = 0; at < whole; at++) {
		void *bytes = NULL;
		size_t n;
		int r;

		all.n_types = at;
		r = small_btf_make(&all, &wanted, &bytes, &n);
		n_sound += r == 0;
		assert_true(r == 0 || r == -EBADMSG);
		free(bytes);
	}
	all.n_types = whole;
	for (at = 0; btf_view_type(&all, at, &next); at = next)
		n_sound--;
	assert_int_equal(n_sound, 0);
	btf__free(program);
	btf__free(kernel);
}

static void test_a_broken_head(void **state)
{
	struct {
		struct btf_header head;
		char types[16], names[4];
	} whole = { .head = { .magic = BTF_MAGIC,
			      .hdr_len = sizeof(whole.head),
			      .type_len = sizeof(whole.types),
			      .str_off = sizeof(whole.types),
			      .str_len = sizeof(whole.names) } },
	  broken = whole;
	struct btf_view view;

	assert_int_equal(btf_view_init(&view, &whole, sizeof(whole)), 0);
	for (size_t n = 0; n < sizeof(whole); n++)
		assert_int_equal(btf_view_init(&view, &whole, n), -EBADMSG);
	broken.names[3] = 'x';
	assert_int_equal(btf_view_init(&view, &broken, sizeof(broken)), -EBADMSG);
	broken = whole;
	broken.head.type_off = UINT32_MAX - 3;
	assert_int_equal(btf_view_init(&view, &broken, sizeof(broken)), -EBADMSG);
	broken = whole;
	broken.head.hdr_len = UINT32_MAX - 3;
	assert_int_equal(btf_view_init(&view, &broken, sizeof(broken)), -EBADMSG);
	broken = whole;
	broken.head.type_off = 2;
	assert_int_equal(btf_view_init(&view, &broken, sizeof(broken)), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_program_reads_is_kept),
		cmocka_unit_test(test_nothing_else_is_kept),
		cmocka_unit_test(test_a_type_that_is_not_there),
		cmocka_unit_test(test_types_that_are_cut_off),
		cmocka_unit_test(test_a_broken_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
