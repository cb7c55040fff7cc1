/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the models that the simulator is made of: LBR, shadow stack, predictor, decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/user.h>
#include <unistd.h>

#include "tests/simulator/code.h"
#include "tests/simulator/decode.h"
#include "tests/simulator/lbr.h"
#include "tests/simulator/predictor.h"
#include "tests/simulator/shadow-set.h"

#define STACK_BYTES 65536

static void push(struct lbr *lbr, uint64_t from)
{
	struct lbr_record record = { .from = from, .to = from + 0x1000 };

	lbr_push(lbr, &record);
}

static void branch_mode_keeps_the_newest_records_newest_first(void **state)
{
	struct lbr_record records[LBR_RECORDS_MAX];
	struct lbr lbr;
	unsigned i;

	lbr_init(&lbr, 8, false);
	assert_int_equal(lbr_read(&lbr, records), 0);
	for (i = 1; i <= 3; i++)
		push(&lbr, i);
	assert_int_equal(lbr_read(&lbr, records), 3);
	assert_int_equal(lbr.tos, 3);
	for (; i <= 21; i++)
		push(&lbr, i);
	assert_int_equal(lbr_read(&lbr, records), 8);
	assert_int_equal(lbr.tos, 21 % 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(records[i].from, 21 - i);
}

static void stack_mode_pops_what_was_called(void **state)
{
	struct lbr_record records[LBR_RECORDS_MAX];
	struct lbr lbr;

	lbr_init(&lbr, 8, true);
	push(&lbr, 1);
	push(&lbr, 2);
	push(&lbr, 3);
	lbr_pop(&lbr);
	assert_int_equal(lbr_read(&lbr, records), 2);
	assert_int_equal(records[0].from, 2);
	assert_int_equal(records[1].from, 1);
	assert_int_equal(lbr.tos, 2);
}

/* 12 calls into 8 registers, 12 returns: the oldest four calls are lost, and TOS is where it was.
 */
static void stack_mode_loses_the_outermost_calls(void **state)
{
	struct lbr_record records[LBR_RECORDS_MAX];
	struct lbr lbr;
	unsigned i;

	lbr_init(&lbr, 8, true);
	for (i = 1; i <= 12; i++)
		push(&lbr, i);
	assert_int_equal(lbr_read(&lbr, records), 8);
	assert_int_equal(records[7].from, 5);
	for (i = 0; i < 8; i++)
		lbr_pop(&lbr);
	assert_int_equal(lbr_read(&lbr, records), 0);
	for (i = 0; i < 4; i++)
		lbr_pop(&lbr);
	assert_int_equal(lbr.tos, 0);
	push(&lbr, 99);
	assert_int_equal(lbr_read(&lbr, records), 1);
	assert_int_equal(lbr.tos, 1);
}

static void reset_leaves_tos(void **state)
{
	struct lbr_record records[LBR_RECORDS_MAX];
	struct lbr lbr;

	lbr_init(&lbr, 16, true);
	push(&lbr, 1);
	push(&lbr, 2);
	lbr_reset(&lbr);
	assert_int_equal(lbr_read(&lbr, records), 0);
	assert_int_equal(lbr.tos, 2);
	push(&lbr, 3);
	assert_int_equal(lbr_read(&lbr, records), 1);
	assert_int_equal(lbr.tos, 3);
}

static void shadow_call(struct shadow *s, uint64_t slot)
{
	struct shadow_entry entry = { .slot = slot, .call = slot + 1, .return_addr = slot + 2 };

	assert_int_equal(shadow_push(s, &entry), 0);
}

static void shadow_forgets_what_lies_below_the_stack_pointer(void **state)
{
	struct shadow s = { 0 };

	shadow_call(&s, 1000);
	shadow_call(&s, 900);
	shadow_call(&s, 800);
	shadow_trim(&s, 800);
	assert_int_equal(s.n_entries, 3);
	shadow_trim(&s, 808);
	assert_int_equal(s.n_entries, 2);
	/* a longjmp out of all but the outermost, then a call that reuses the stack */
	shadow_call(&s, 700);
	shadow_call(&s, 950);
	assert_int_equal(s.n_entries, 2);
	assert_int_equal(s.entries[1].slot, 950);
	shadow_done(&s);
}

static char *map_stack(void)
{
	char *p = mmap(NULL, 3 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + STACK_BYTES, STACK_BYTES, PROT_READ), 0);
	return p + STACK_BYTES;
}

static uint64_t top_of(const char *stack)
{
	return (uint64_t)(uintptr_t)stack + STACK_BYTES;
}

static void unmap_stack(char *stack)
{
	munmap(stack - STACK_BYTES, 3 * STACK_BYTES);
}

static void shadows_go_by_the_stack_that_the_pointer_is_in(void **state)
{
	char *a = map_stack(), *b = map_stack();
	struct shadow_set set;

	assert_int_equal(shadow_set_init(&set), 0);
	shadow_call(shadow_set_enter(&set, getpid(), top_of(a)), top_of(a) - 8);
	shadow_call(shadow_set_enter(&set, getpid(), top_of(b) - 8), top_of(b) - 16);
	assert_int_equal(set.n, 2);
	assert_ptr_equal(set.current, set.all[1]);
	/* no memory: nothing changes */
	assert_ptr_equal(shadow_set_enter(&set, getpid(), 8), set.all[1]);
	assert_ptr_equal(shadow_set_enter(&set, getpid(), top_of(a) - 8), set.all[0]);
	assert_int_equal(set.current->n_entries, 1);
	assert_int_equal(set.all[1]->n_entries, 1);
	shadow_set_clear(&set);
	assert_int_equal(set.n, 1);
	assert_int_equal(set.current->n_entries, 0);
	shadow_set_done(&set);
	unmap_stack(a);
	unmap_stack(b);
}

static void a_handler_s_stack_ends_when_it_is_left(void **state)
{
	char *a = map_stack(), *b = map_stack();
	struct shadow_set set;

	assert_int_equal(shadow_set_init(&set), 0);
	shadow_call(shadow_set_enter(&set, getpid(), top_of(a)), top_of(a) - 8);
	shadow_call(shadow_set_interrupt(&set, getpid(), top_of(b) - 8), top_of(b) - 16);
	assert_ptr_equal(set.current->interrupted, set.all[0]);
	/* a signal while the handler runs */
	shadow_call(shadow_set_interrupt(&set, getpid(), top_of(b) - 80), top_of(b) - 88);
	assert_ptr_equal(set.current, set.all[1]);
	assert_int_equal(set.current->n_entries, 2);
	shadow_set_enter(&set, getpid(), top_of(a) - 8);
	assert_ptr_equal(set.current, set.all[0]);
	assert_int_equal(set.current->n_entries, 1);
	assert_int_equal(set.all[1]->n_entries, 0);
	assert_null(set.all[1]->interrupted);
	shadow_set_done(&set);
	unmap_stack(a);
	unmap_stack(b);
}

static void predictor_counts_to_two(void **state)
{
	static const bool taken[] = { true, true, true, false, true, false, false, false, true };
	static const bool missed[] = { true, false, false, true, false, true, true, false, true };
	struct insn insn = { .kind = INSN_CONDITIONAL, .counter = 1 };
	struct predictor p = { 0 };
	size_t i;

	for (i = 0; i < sizeof(taken); i++)
		assert_int_equal(predictor_execute(&p, &insn, taken[i], 0x10), missed[i]);
}

static void predictor_remembers_sixteen_returns(void **state)
{
	struct insn call = { .kind = INSN_CALL }, ret = { .kind = INSN_RETURN };
	struct predictor p = { 0 };
	unsigned i;

	for (i = 1; i <= 20; i++) {
		call.next = i;
		assert_false(predictor_execute(&p, &call, true, 0x1000));
	}
	for (i = 20; i > 4; i--)
		assert_false(predictor_execute(&p, &ret, true, i));
	assert_true(predictor_execute(&p, &ret, true, 4));
}

static struct insn decode(const char *bytes, size_t n)
{
	struct insn insn = { .addr = 0x401000 };

	decode_insn(&insn, (const uint8_t *)bytes, n);
	return insn;
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)
#define REG(name)     ((int)(offsetof(struct user_regs_struct, name) / 8))

static void decoder_knows_transfers(void **state)
{
	struct insn i;

	i = DECODE("\x74\x10"); /* je */
	assert_int_equal(i.kind, INSN_CONDITIONAL);
	assert_int_equal(i.condition, 4);
	assert_int_equal(i.target, 0x401012);
	i = DECODE("\x0f\x8f\x00\x01\x00\x00"); /* jg */
	assert_int_equal(i.condition, 15);
	assert_int_equal(i.target, 0x401106);
	i = DECODE("\xe2\xfe"); /* loop to itself */
	assert_int_equal(i.condition, CONDITION_LOOP);
	assert_int_equal(i.target, 0x401000);
	i = DECODE("\xf2\xe9\x00\x00\x00\x00"); /* bnd jmp */
	assert_int_equal(i.kind, INSN_JUMP);
	assert_int_equal(i.target, i.next);
	i = DECODE("\xc2\x08\x00"); /* ret 8 */
	assert_int_equal(i.kind, INSN_RETURN);
	assert_int_equal(i.pop_bytes, 8);
	i = DECODE("\xf3\xc3"); /* repz ret */
	assert_int_equal(i.kind, INSN_RETURN);
	i = DECODE("\x0f\x05");
	assert_int_equal(i.kind, INSN_SYSCALL);
}

static void decoder_knows_indirect_targets(void **state)
{
	struct insn i;

	i = DECODE("\xff\x25\x10\x00\x00\x00"); /* jmp *0x10(%rip) */
	assert_int_equal(i.kind, INSN_JUMP_INDIRECT);
	assert_true(i.is_memory);
	assert_int_equal(i.base, REG_NONE);
	assert_int_equal(i.displacement, 0x401016);
	i = DECODE("\x41\xff\x54\xc4\xf8"); /* call *-8(%r12,%rax,8) */
	assert_int_equal(i.kind, INSN_CALL_INDIRECT);
	assert_int_equal(i.base, REG(r12));
	assert_int_equal(i.index, REG(rax));
	assert_int_equal(i.scale, 8);
	assert_int_equal(i.displacement, -8);
	i = DECODE("\x3e\xff\xe2"); /* notrack jmp *%rdx */
	assert_int_equal(i.kind, INSN_JUMP_INDIRECT);
	assert_false(i.is_memory);
	assert_int_equal(i.base, REG(rdx));
	assert_false(i.is_odd);
	i = DECODE("\x64\xff\x14\x25\x28\x00\x00\x00"); /* call *%fs:0x28 */
	assert_int_equal(i.segment, REG(fs_base));
}

/* 0x77 alone is `ja`; here it ends a VEX instruction. */
static void decoder_is_not_fooled_by_opcode_bytes(void **state)
{
	struct insn i;

	i = DECODE("\xc5\xf8\x77"); /* vzeroupper */
	assert_int_equal(i.kind, INSN_PLAIN);
	assert_int_equal(i.length, 3);
	i = DECODE("\xf3\x0f\x1e\xfa"); /* endbr64 */
	assert_int_equal(i.kind, INSN_PLAIN);
	assert_int_equal(i.length, 4);
	i = DECODE("\xf3\xa4"); /* rep movsb */
	assert_int_equal(i.kind, INSN_PLAIN);
	i = DECODE("\x06"); /* nothing in 64-bit mode */
	assert_int_equal(i.kind, INSN_OTHER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_mode_keeps_the_newest_records_newest_first),
		cmocka_unit_test(stack_mode_pops_what_was_called),
		cmocka_unit_test(stack_mode_loses_the_outermost_calls),
		cmocka_unit_test(reset_leaves_tos),
		cmocka_unit_test(shadow_forgets_what_lies_below_the_stack_pointer),
		cmocka_unit_test(shadows_go_by_the_stack_that_the_pointer_is_in),
		cmocka_unit_test(a_handler_s_stack_ends_when_it_is_left),
		cmocka_unit_test(predictor_counts_to_two),
		cmocka_unit_test(predictor_remembers_sixteen_returns),
		cmocka_unit_test(decoder_knows_transfers),
		cmocka_unit_test(decoder_knows_indirect_targets),
		cmocka_unit_test(decoder_is_not_fooled_by_opcode_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
