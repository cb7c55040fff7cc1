/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unwind tables of Go's code, from a table of functions that is written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "common/elf/unwind-rows.h"
#include "tests/support/elf-head.h"

#define CODE      0x401000u
#define N         3
#define FUNCTION  0x40u
#define MAGIC     0xfffffff0u
#define NAMES     72u
#define N_NAMES   64u
#define LIST      (NAMES + N_NAMES)
#define UNRELATED 0x20000u

struct image {
	struct elf_head head;
	struct {
		uint32_t magic;
		uint8_t zero[2], quantum, address_size;
		uint64_t n, n_files, code, names, units, files, numbers, list;
		char text[N_NAMES];
		struct {
			uint32_t start, description;
		} entries[N + 1];
		struct {
			uint32_t start, name;
		} descriptions[N];
	} go;
};

static void fill(struct image *image)
{
	static const char names[] = "main.main\0runtime.mstart\0runtime.mstart1";
	static const uint32_t name_at[N] = { 0, 10, 25 };

	*image = (struct image){
		.go = { .magic = MAGIC,
			.quantum = 1,
			.address_size = 8,
			.n = N,
			.code = CODE,
			.names = NAMES,
			.list = LIST },
	};
	elf_head_init(&image->head, EM_X86_64, UNRELATED, ".gopclntab", sizeof(image->go));
	image->head.header.e_type = ET_EXEC;
	image->head.load.p_vaddr = CODE;
	memcpy(image->go.text, names, sizeof(names));
	for (uint32_t i = 0; i <= N; i++)
		image->go.entries[i].start = i * FUNCTION;
	for (uint32_t i = 0; i < N; i++) {
		image->go.entries[i].description =
			(uint32_t)(sizeof(image->go.entries) + i * 2 * sizeof(uint32_t));
		image->go.descriptions[i].name = name_at[i];
	}
}

static int read_table(const struct image *image, struct unwind_table *ret)
{
	struct elf_image *elf;
	int r;

	assert_int_equal(elf_image_open_memory(&elf, image, sizeof(*image)), 0);
	r = unwind_rows_read(elf, &elf->loads, ret);
	elf_image_free(elf);
	return r;
}

static void threads_begin_at_mstart_and_all_else_has_frame_pointers(void **state)
{
	const struct unwind_rule *rule;
	struct unwind_table table;
	struct image image;

	fill(&image);
	assert_int_equal(read_table(&image, &table), 0);
	assert_true(unwind_table_is_valid(&table));
	for (uint64_t at = 0; at < N * FUNCTION; at++) {
		rule = unwind_table_find(&table, at);
		if (at / FUNCTION == 1) {
			assert_non_null(rule);
			assert_int_equal(rule->cfa, UNWIND_CFA_END);
		} else {
			assert_null(rule);
			assert_true(unwind_table_is_other_code(&table, at));
		}
	}
	assert_null(unwind_table_find(&table, N * FUNCTION));
	assert_false(unwind_table_is_other_code(&table, N * FUNCTION));
	unwind_table_done(&table);
}

static void malformed_tables_are_none(void **state)
{
	struct unwind_table table;
	struct image image;

	fill(&image);
	image.go.magic = 0xfffffffbu; /* of Go 1.2 */
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.n = UINT64_MAX;
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.list = UINT64_MAX - 8;
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.code = INT64_MAX;
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.entries[2].start = FUNCTION; /* an empty function */
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.entries[1].description = UINT32_MAX;
	assert_int_equal(read_table(&image, &table), -ENODATA);
	fill(&image);
	image.go.entries[N].start = UNRELATED + 1; /* beyond its segment */
	assert_int_equal(read_table(&image, &table), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_begin_at_mstart_and_all_else_has_frame_pointers),
		cmocka_unit_test(malformed_tables_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
