/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwind tables of call frame information that is written by hand: AArch64 code that signs its
 * return addresses, as GCC describes it, and x86-64 code that replaces its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "common/elf/unwind-rows.h"
#include "tests/support/elf-head.h"

#define SECTION 0x8000
#define CODE    0x10000u

#define NEGATE      DW_CFA_AARCH64_negate_ra_state
#define ADVANCE(n)  (DW_CFA_advance_loc | (n) / 4)
#define SAVED(r, n) (DW_CFA_offset | (r)), (n) / 8
#define RESTORED(r) (DW_CFA_restore | (r))
#define CFA(n)      DW_CFA_def_cfa_offset, (n)

struct image {
	struct elf_head head;
	uint8_t cfi[1024];
	size_t n;
};

static void put(struct image *image, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(image->cfi) - image->n);
	memcpy(image->cfi + image->n, bytes, n);
	image->n += n;
}

static void put_word(struct image *image, uint32_t word)
{
	put(image, &word, sizeof(word));
}

/* With a size of whole words; DW_CFA_nop fills them. */
static void put_entry(struct image *image, uint32_t id, const void *head, size_t n_head,
		      const uint8_t *instructions, size_t n)
{
	static const uint8_t nops[4];
	size_t size = sizeof(id) + n_head + n, rest = -size % 4;

	put_word(image, (uint32_t)(size + rest));
	put_word(image, id);
	put(image, head, n_head);
	put(image, instructions, n);
	put(image, nops, rest);
}

static void begin(struct image *image, bool eh)
{
	static const uint8_t head[] = { 1, 'z', 'R', 0, 4, 0x78, 30, 1, DW_EH_PE_udata4 };
	static const uint8_t plain[] = { 4, 0, 8, 0, 4, 0x78, 30 };
	static const uint8_t cfa[] = { DW_CFA_def_cfa, 31, 0 };

	*image = (struct image){};
	if (eh)
		put_entry(image, 0, head, sizeof(head), cfa, sizeof(cfa));
	else
		put_entry(image, UINT32_MAX, plain, sizeof(plain), cfa, sizeof(cfa));
}

static void put_function(struct image *image, bool eh, uint32_t start, uint32_t size,
			 const uint8_t *instructions, size_t n)
{
	const uint32_t head[] = { start, size };
	const uint64_t wide[] = { start, size };
	uint8_t bytes[sizeof(head) + 1] = {};

	memcpy(bytes, head, sizeof(head)); /* then no augmentation data */
	if (eh)
		put_entry(image, (uint32_t)image->n + 4, bytes, sizeof(bytes), instructions, n);
	else
		put_entry(image, 0, wide, sizeof(wide), instructions, n);
}

static int read_rows(struct image *image, bool eh, uint16_t machine, struct unwind_table *ret)
{
	struct elf_image *elf;
	int r;

	if (eh)
		put_word(image, 0);
	elf_head_init(&image->head, machine, 2 * CODE, eh ? ".eh_frame" : ".debug_frame", image->n);
	image->head.sections[1].sh_addr = SECTION;
	if (!eh)
		image->head.sections[1].sh_flags = 0;
	assert_int_equal(elf_image_open_memory(&elf, image, sizeof(*image)), 0);
	r = unwind_rows_read(elf, &elf->loads, ret);
	elf_image_free(elf);
	return r;
}

static void finish(struct image *image, bool eh, uint16_t machine, struct unwind_table *ret)
{
	assert_int_equal(read_rows(image, eh, machine, ret), 0);
}

/* Where the return address and the frame pointer are at an offset of the code. */
static void assert_rule(const struct unwind_table *table, uint32_t offset, int32_t cfa, int32_t ra,
			int32_t fp)
{
	const struct unwind_rule *rule = unwind_table_find(table, CODE + offset);

	assert_non_null(rule);
	assert_int_equal(rule->cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule->cfa_register, UNWIND_A64_SP);
	assert_int_equal(rule->cfa_offset, cfa);
	assert_int_equal(rule->ra, ra ? UNWIND_SAVED_CFA : UNWIND_SAVED_NOT);
	assert_int_equal(rule->ra_offset, ra);
	assert_int_equal(rule->fp, fp ? UNWIND_SAVED_CFA : UNWIND_SAVED_NOT);
	assert_int_equal(rule->fp_offset, fp);
}

/* paciasp; stp x29, x30, [sp, -32]!; ...; ldp x29, x30, [sp], 32; autiasp; ret; ... */
static const uint8_t whole[] = {
	ADVANCE(4),
	NEGATE,
	ADVANCE(4),
	CFA(32),
	SAVED(29, 32),
	SAVED(30, 24),
	ADVANCE(8),
	DW_CFA_remember_state,
	RESTORED(30),
	RESTORED(29),
	CFA(0),
	ADVANCE(4),
	NEGATE,
	ADVANCE(4),
	DW_CFA_restore_state,
};

/* A part that lies apart, of a function that has saved its registers. */
static const uint8_t apart[] = { CFA(32), SAVED(29, 32), SAVED(30, 24), NEGATE };

/* Its number as an operand: it stays. */
static const uint8_t operand[] = { CFA(NEGATE), ADVANCE(4), DW_CFA_advance_loc1, NEGATE, CFA(0) };

static void check(bool eh)
{
	struct unwind_table table;
	struct image image;

	begin(&image, eh);
	put_function(&image, eh, CODE, 0x40, whole, sizeof(whole));
	put_function(&image, eh, CODE + 0x100, 0x40, apart, sizeof(apart));
	put_function(&image, eh, CODE + 0x200, 0x100, operand, sizeof(operand));
	finish(&image, eh, EM_AARCH64, &table);
	assert_rule(&table, 0, 0, 0, 0);
	assert_rule(&table, 4, 0, 0, 0);
	assert_rule(&table, 8, 32, -24, -32);
	assert_rule(&table, 16, 0, 0, 0);
	assert_rule(&table, 20, 0, 0, 0);
	assert_rule(&table, 24, 32, -24, -32);
	assert_rule(&table, 0x100, 32, -24, -32);
	assert_rule(&table, 0x200, NEGATE, 0, 0);
	assert_rule(&table, 0x204 + NEGATE * 4 - 1, NEGATE, 0, 0);
	assert_rule(&table, 0x204 + NEGATE * 4, 0, 0, 0);
	unwind_table_done(&table);
}

static void signed_return_addresses(void **state)
{
	check(true);
}

static void signed_return_addresses_in_debug_frame(void **state)
{
	check(false);
}

static bool may_replace(const struct unwind_table *table, uint32_t offset)
{
	const struct unwind_rule *rule = unwind_table_find(table, CODE + offset);

	assert_non_null(rule);
	assert_int_equal(rule->ra, UNWIND_SAVED_CFA);
	return rule->replaces;
}

/* As libgcc's unwinder: push; ...; pop %rcx; jmp *%rcx. */
static void a_function_that_jumps_to_a_handler(void **state)
{
	static const uint8_t head[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_udata4 };
	static const uint8_t cfa[] = { DW_CFA_def_cfa, UNWIND_X86_SP, 8,
				       DW_CFA_offset | UNWIND_X86_RA, 1 };
	static const uint8_t jumps[] = {
		DW_CFA_advance_loc | 4, CFA(16), DW_CFA_advance_loc | 32, CFA(0), DW_CFA_register,
		UNWIND_X86_RA,          2
	};
	static const uint8_t returns[] = { DW_CFA_advance_loc | 4, CFA(16) };
	const struct unwind_rule *last;
	struct unwind_table table;
	struct image image = {};

	put_entry(&image, 0, head, sizeof(head), cfa, sizeof(cfa));
	put_function(&image, true, CODE, 0x40, returns, sizeof(returns));
	put_function(&image, true, CODE + 0x40, 0x40, jumps, sizeof(jumps));
	put_function(&image, true, CODE + 0x80, 0x40, returns, sizeof(returns));
	finish(&image, true, EM_X86_64, &table);
	assert_false(may_replace(&table, 0));
	assert_false(may_replace(&table, 0x3f));
	assert_true(may_replace(&table, 0x40));
	assert_true(may_replace(&table, 0x63));
	last = unwind_table_find(&table, CODE + 0x64);
	assert_non_null(last);
	assert_int_equal(last->ra, UNWIND_SAVED_HELD);
	assert_int_equal(last->ra_offset, 2);
	assert_false(may_replace(&table, 0x80));
	assert_false(may_replace(&table, 0xbf));
	unwind_table_done(&table);
}

/* Each saved state has room for all registers up to the one that is named. */
static void too_much_time_is_not_the_same_as_nothing(void **state)
{
	static const uint8_t head[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_udata4 };
	static const uint8_t cfa[] = { DW_CFA_def_cfa, UNWIND_X86_SP, 8 };
	uint8_t slow[600] = { DW_CFA_register, 0xff, 0xff, 0x03, 2 };
	struct unwind_table table;
	struct image image = {};

	for (size_t i = 5; i < sizeof(slow); i++)
		slow[i] = i % 2 ? DW_CFA_remember_state : DW_CFA_advance_loc | 1;
	put_entry(&image, 0, head, sizeof(head), cfa, sizeof(cfa));
	put_function(&image, true, CODE, 0x400, slow, sizeof(slow));
	assert_int_equal(read_rows(&image, true, EM_X86_64, &table), -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signed_return_addresses),
		cmocka_unit_test(signed_return_addresses_in_debug_frame),
		cmocka_unit_test(a_function_that_jumps_to_a_handler),
		cmocka_unit_test(too_much_time_is_not_the_same_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
