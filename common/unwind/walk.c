/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a walk is what the registers were in a frame: those that the tables follow, and in
 * the leaf all that are known. A step finds the caller's.
 *
 * The stack grows down, so a caller's frame lies above; only a signal handler may have a stack of
 * its own. Every word is read from the copied bytes, so nothing outside of them is believed.
 */
#include "common/unwind/walk.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "common/util/macro.h"

#define WORD 8

/* Pointer authentication uses the bits above the address. */
#define A64_ADDRESS_BITS 48

/* struct rt_sigframe at the stack pointer: siginfo, then ucontext with the registers. */
#define A64_SIGNAL_REGISTERS (128 + 176 + 8)
#define A64_SIGNAL_FP        (A64_SIGNAL_REGISTERS + 29 * WORD)
#define A64_SIGNAL_LR        (A64_SIGNAL_REGISTERS + 30 * WORD)
#define A64_SIGNAL_SP        (A64_SIGNAL_REGISTERS + 31 * WORD)
#define A64_SIGNAL_IP        (A64_SIGNAL_REGISTERS + 32 * WORD)

/* Small, as each step makes one: what else is known of the leaf stays in the input. */
struct frame {
	uint64_t ip, sp, fp, lr, bx;
	bool exact;                  /* ip is where it runs, not where a call returns to */
	bool is_leaf;                /* all registers of the input are its own */
	bool has_fp, has_lr, has_bx; /* those registers are known; of bx on x86-64 alone */
};

struct walk {
	const struct unwind_input *input;
	struct frame now;
	struct unwind_code code;        /* at its place */
	const struct unwind_rule *rule; /* NULL: none */
};

static bool is_a64(const struct walk *walk)
{
	return walk->input->machine == EM_AARCH64;
}

static uint8_t fp_number(const struct walk *walk)
{
	return is_a64(walk) ? UNWIND_A64_FP : UNWIND_X86_FP;
}

static uint8_t sp_number(const struct walk *walk)
{
	return is_a64(walk) ? UNWIND_A64_SP : UNWIND_X86_SP;
}

static bool read_word(const struct walk *walk, uint64_t address, uint64_t *ret)
{
	const struct unwind_input *input = walk->input;
	uint64_t at = address - input->stack_address, word;

	if (input->n_stack < WORD || at > input->n_stack - WORD)
		return false;
	memcpy(&word, input->stack + at, WORD);
	*ret = le64toh(word);
	return true;
}

static bool get_register(const struct walk *walk, uint8_t number, uint64_t *ret)
{
	const struct frame *now = &walk->now;

	if (number == sp_number(walk)) {
		*ret = now->sp;
		return true;
	}
	if (number == fp_number(walk)) {
		*ret = now->fp;
		return now->has_fp;
	}
	if (now->is_leaf) {
		*ret = walk->input->registers.values[number];
		return walk->input->registers.known >> number & 1;
	}
	*ret = now->bx;
	return number == UNWIND_X86_BX && now->has_bx;
}

/* Where a rule says that a value is saved. */
static bool find_saved(const struct walk *walk, uint8_t saved, int32_t offset, uint64_t cfa,
		       uint64_t *ret)
{
	uint64_t base = cfa;

	if (saved == UNWIND_SAVED_REGISTER && !get_register(walk, walk->rule->cfa_register, &base))
		return false;
	if (saved == UNWIND_SAVED_FP && !get_register(walk, fp_number(walk), &base))
		return false;
	*ret = base + (uint64_t)(int64_t)offset;
	return true;
}

/*
 * Restores a register that need not be known in the caller. UNWIND_COMPLETE, or why the walk ends.
 * Compilers do not say when an epilogue has popped a register: then its place is free, below the
 * stack pointer, or if it is found by the popped frame pointer, in the caller's frame. The register
 * has the caller's value already.
 */
static enum unwind_end restore(const struct walk *walk, uint8_t saved, int32_t offset, uint64_t cfa,
			       uint64_t *value, bool *known)
{
	bool before = *known;
	uint64_t at;

	if (saved == UNWIND_SAVED_NOT)
		return UNWIND_COMPLETE;
	*known = saved != UNWIND_SAVED_LOST && find_saved(walk, saved, offset, cfa, &at);
	if (!*known)
		return UNWIND_COMPLETE;
	if (saved != UNWIND_SAVED_REGISTER && (at < walk->now.sp || at >= cfa)) {
		*known = before;
		return UNWIND_COMPLETE;
	}
	return read_word(walk, at, value) ? UNWIND_COMPLETE : UNWIND_STACK;
}

static enum unwind_end find_cfa(const struct walk *walk, uint64_t *ret)
{
	const struct unwind_rule *rule = walk->rule;
	bool plt = rule->cfa == UNWIND_CFA_PLT;
	uint64_t base;

	if (!get_register(walk, plt ? sp_number(walk) : rule->cfa_register, &base))
		return UNWIND_FRAME;
	base += (uint64_t)(int64_t)rule->cfa_offset;
	if (plt && walk->now.ip % 16 >= rule->cfa_register)
		base += WORD;
	if (rule->cfa == UNWIND_CFA_MEMORY || rule->cfa == UNWIND_CFA_INTERRUPTED)
		return read_word(walk, base, ret) ? UNWIND_COMPLETE : UNWIND_STACK;
	*ret = base;
	return UNWIND_COMPLETE;
}

/* Only a function that has not touched the stack yet has its frame where its caller's ends. */
static bool lies_right(const struct walk *walk, uint64_t cfa, bool ra_in_register)
{
	uint64_t sp = walk->now.sp;

	return cfa % WORD == 0 && (cfa > sp || (cfa == sp && ra_in_register));
}

static uint64_t without_authentication(const struct walk *walk, uint64_t address)
{
	return is_a64(walk) ? address & ((1ULL << A64_ADDRESS_BITS) - 1) : address;
}

/* The return address of a frame with a rule. */
static enum unwind_end find_return(const struct walk *walk, uint64_t cfa, uint64_t *ret)
{
	const struct unwind_rule *rule = walk->rule;
	uint64_t at;

	switch (rule->ra) {
	case UNWIND_SAVED_NOT:
		*ret = walk->now.lr;
		return is_a64(walk) && walk->now.has_lr ? UNWIND_COMPLETE : UNWIND_FRAME;
	case UNWIND_SAVED_HELD:
		return get_register(walk, (uint8_t)rule->ra_offset, ret) ? UNWIND_COMPLETE :
									   UNWIND_FRAME;
	case UNWIND_SAVED_LOST:
		return UNWIND_FRAME;
	default:
		if (!find_saved(walk, rule->ra, rule->ra_offset, cfa, &at))
			return UNWIND_FRAME;
		return read_word(walk, at, ret) ? UNWIND_COMPLETE : UNWIND_STACK;
	}
}

/*
 * Whether the return address of a frame has been replaced by that of the frame to which it will
 * jump: that one lies further out once more, where the calls that the jump leaves begin.
 */
static bool is_replaced(const struct walk *walk, const struct frame *caller)
{
	uint64_t address = caller->sp, word;

	if (!walk->rule->replaces || walk->rule->ra != UNWIND_SAVED_CFA)
		return false;
	for (; read_word(walk, address, &word); address += WORD)
		if (word == caller->ip)
			return true;
	return false;
}

/* The caller of a frame with a rule. */
static enum unwind_end step_by_rule(const struct walk *walk, struct frame *caller)
{
	const struct unwind_rule *rule = walk->rule;
	bool interrupted = rule->cfa == UNWIND_CFA_INTERRUPTED;
	bool in_register = rule->ra == UNWIND_SAVED_NOT || rule->ra == UNWIND_SAVED_HELD;
	enum unwind_end end;
	uint64_t cfa, ra;

	end = find_cfa(walk, &cfa);
	if (end != UNWIND_COMPLETE)
		return end;
	if (!interrupted && !lies_right(walk, cfa, in_register))
		return UNWIND_FRAME;
	end = find_return(walk, cfa, &ra);
	if (end != UNWIND_COMPLETE)
		return end;
	end = restore(walk, rule->fp, rule->fp_offset, cfa, &caller->fp, &caller->has_fp);
	if (end == UNWIND_COMPLETE && !is_a64(walk)) {
		end = restore(walk, rule->bx, rule->bx_offset, cfa, &caller->bx, &caller->has_bx);
	}
	caller->ip = without_authentication(walk, ra);
	caller->sp = cfa;
	caller->exact = interrupted;
	if (end == UNWIND_COMPLETE && is_replaced(walk, caller))
		return UNWIND_NO_RETURN;
	return end;
}

static enum unwind_end step_out_of_signal_a64(const struct walk *walk, struct frame *caller)
{
	uint64_t sp = walk->now.sp;

	if (!read_word(walk, sp + A64_SIGNAL_FP, &caller->fp) ||
	    !read_word(walk, sp + A64_SIGNAL_LR, &caller->lr) ||
	    !read_word(walk, sp + A64_SIGNAL_SP, &caller->sp) ||
	    !read_word(walk, sp + A64_SIGNAL_IP, &caller->ip))
		return UNWIND_STACK;
	caller->has_fp = caller->has_lr = caller->exact = true;
	return UNWIND_COMPLETE;
}

/* Where a jump out of several calls goes to. */
static enum unwind_end step_by_jump(const struct walk *walk, struct frame *caller)
{
	const struct unwind_rule *rule = walk->rule;

	if (!get_register(walk, rule->cfa_register, &caller->sp) ||
	    !get_register(walk, (uint8_t)rule->ra_offset, &caller->ip) ||
	    !lies_right(walk, caller->sp, true))
		return UNWIND_FRAME;
	caller->has_fp = get_register(walk, (uint8_t)rule->fp_offset, &caller->fp);
	caller->has_bx = caller->exact = false;
	return UNWIND_COMPLETE;
}

/* The caller of a frame without a rule: the frame pointer points to its own saved value, and the
 * return address follows. */
static enum unwind_end step_by_fp(const struct walk *walk, struct frame *caller)
{
	uint64_t fp = walk->now.fp, ra;

	if (!walk->code.by_fp || !walk->now.has_fp || fp % WORD || fp < walk->now.sp)
		return UNWIND_NO_TABLE;
	if (!read_word(walk, fp, &caller->fp) || !read_word(walk, fp + WORD, &ra))
		return UNWIND_NO_TABLE;
	caller->ip = without_authentication(walk, ra);
	caller->sp = fp + 2UL * WORD;
	caller->has_bx = false;
	caller->exact = false;
	return UNWIND_COMPLETE;
}

/* Of the caller nothing is known but what a step finds: other registers are saved somewhere. */
static enum unwind_end step(struct walk *walk, bool *ret_by_fp)
{
	struct frame caller = walk->now;
	enum unwind_end end;

	caller.has_lr = caller.is_leaf = false;
	*ret_by_fp = !walk->rule;
	if (!walk->rule)
		end = step_by_fp(walk, &caller);
	else if (walk->rule->cfa == UNWIND_CFA_SIGNAL_A64)
		end = step_out_of_signal_a64(walk, &caller);
	else if (walk->rule->cfa == UNWIND_CFA_JUMP)
		end = step_by_jump(walk, &caller);
	else
		end = step_by_rule(walk, &caller);
	walk->now = caller;
	return end;
}

static uint64_t place_of(const struct frame *frame)
{
	return frame->ip - !frame->exact;
}

static bool locate(struct walk *walk)
{
	const struct unwind_input *input = walk->input;

	walk->code = (struct unwind_code){};
	if (!input->locate(place_of(&walk->now), &walk->code, input->userdata))
		return false;
	walk->rule = walk->code.rule;
	if (!walk->code.table || walk->code.table->machine != input->machine)
		return true;
	walk->rule = unwind_table_find(walk->code.table, walk->code.offset);
	if (!walk->rule && unwind_table_is_other_code(walk->code.table, walk->code.offset))
		walk->code.by_fp = true;
	return true;
}

/* The kernel calls no code, but lets a signal handler return to where a signal is ended. */
static bool is_return(const struct walk *walk)
{
	const struct unwind_input *input = walk->input;
	const struct unwind_rule *rule = walk->rule;

	if (walk->now.exact || !input->follows_call ||
	    (rule && (rule->cfa == UNWIND_CFA_INTERRUPTED || rule->cfa == UNWIND_CFA_SIGNAL_A64 ||
		      rule->cfa == UNWIND_CFA_END)))
		return true;
	return input->follows_call(walk->now.ip, input->userdata) != UNWIND_CALL_NO;
}

/* Whether there is no caller: the tables say so, or by convention a frame pointer of zero. */
static bool is_outermost(const struct walk *walk)
{
	if (walk->rule)
		return walk->rule->cfa == UNWIND_CFA_END;
	return walk->now.has_fp && walk->now.fp == 0;
}

static void begin(struct walk *walk, const struct unwind_input *input)
{
	const struct unwind_registers *registers = &input->registers;

	*walk = (struct walk){
		.input = input,
		.now = {
			.ip = registers->ip,
			.sp = registers->sp,
			.fp = registers->fp,
			.lr = registers->lr,
			.bx = registers->values[UNWIND_X86_BX],
			.exact = true,
			.is_leaf = true,
			.has_fp = true,
			.has_lr = true,
		},
	};
	walk->now.has_bx = !is_a64(walk) && registers->known >> UNWIND_X86_BX & 1;
}

static enum unwind_end walk_on(struct walk *walk, struct unwind_frame *frames, size_t max_frames,
			       struct unwind_result *ret)
{
	enum unwind_end end;
	bool by_fp = false;

	for (;;) {
		bool is_code = locate(walk);

		if (!is_code && ret->n_frames > 0)
			return UNWIND_NO_RETURN;
		if (is_code && ret->n_frames > 0 && !is_return(walk))
			return UNWIND_NO_RETURN;
		if (ret->n_frames == max_frames)
			return UNWIND_DEPTH;
		frames[ret->n_frames++] = (struct unwind_frame){
			.address = walk->now.ip,
			.place = place_of(&walk->now),
		};
		ret->n_by_fp += by_fp;
		ret->stopped_at = place_of(&walk->now);
		ret->sp = walk->now.sp;
		if (!is_code)
			return UNWIND_NO_RETURN;
		ret->by_table = walk->rule;
		if (is_outermost(walk))
			return UNWIND_COMPLETE;
		end = step(walk, &by_fp);
		if (end != UNWIND_COMPLETE)
			return end;
		if (walk->now.ip == 0)
			return UNWIND_COMPLETE;
	}
}

void unwind_walk(const struct unwind_input *input, struct unwind_frame *frames, size_t max_frames,
		 struct unwind_result *ret)
{
	struct walk walk;

	begin(&walk, input);
	*ret = (struct unwind_result){};
	ret->end = walk_on(&walk, frames, max_frames, ret);
}
