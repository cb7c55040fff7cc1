/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions are read in the order of their addresses. What a jump brings along is noted at its
 * target. After an instruction that goes elsewhere the frame is that of a jump to the next one, or
 * a function starts there.
 */
#include "common/elf/unwind-code.h"

#include <stdbool.h>
#include <string.h>

#include "common/util/macro.h"

#define WORD       8
#define MAX_DEPTH  1024
#define PUSH       0x50
#define POP        0x58
#define FP         5 /* in the numbers of instructions */
#define SP         4
#define REGISTER   7
#define PREFIX_REX 0x41

/* What is on the stack: how many bytes from the stack pointer to the CFA, and where between them
 * the frame pointer is saved; 0: nowhere. */
struct frame {
	int32_t depth, fp;
};

struct reader {
	const uint8_t *code;
	size_t n;
	uint64_t address;
	struct frame now;
	bool known;                           /* the code goes on from the instruction before */
	struct frame jumps[UNWIND_CODE_MAX];  /* by target; depth 0: none */
	bool starts[UNWIND_CODE_MAX];         /* instructions */
	struct frame frames[UNWIND_CODE_MAX]; /* before them */
	struct unwind_code_row *rows;
	size_t n_rows;
};

static bool same(const struct frame *a, const struct frame *b)
{
	return a->depth == b->depth && a->fp == b->fp;
}

static bool is_entry(const struct frame *frame)
{
	return frame->depth == WORD && !frame->fp;
}

static bool push(struct frame *now, unsigned int number)
{
	now->depth += WORD;
	if (number == FP && !now->fp)
		now->fp = now->depth;
	return now->depth <= MAX_DEPTH && number != SP;
}

/* A pop ends the saving of the frame pointer only if it takes that word. */
static bool pop(struct frame *now, unsigned int number)
{
	bool restores = now->fp && now->fp == now->depth;

	now->depth -= WORD;
	if (restores != (number == FP))
		return false;
	if (restores)
		now->fp = 0;
	return now->depth >= WORD && number != SP;
}

static bool starts_with(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* Whether the instruction leaves the frame as it is. */
static bool leaves_frame(const struct reader *r, const struct instruction *i)
{
	static const char *const others[] = { "push", "pop", "enter", "leave" };

	for (size_t k = 0; k < ARRAY_SIZE(others); k++)
		if (starts_with(i->text, others[k]))
			return false;
	if (strstr(i->text, "sp") || (!r->now.fp && strstr(i->text, "bp")))
		return false;
	return true;
}

/* Applies an instruction that does not branch. False if the frame is not known after it. */
static bool apply(struct reader *r, const struct instruction *i)
{
	const uint8_t *p = r->code + (i->address - r->address);
	struct frame *now = &r->now;

	if (i->size == 1 && (p[0] & ~REGISTER) == PUSH)
		return push(now, p[0] & REGISTER);
	if (i->size == 1 && (p[0] & ~REGISTER) == POP)
		return pop(now, p[0] & REGISTER);
	if (i->size == 2 && p[0] == PREFIX_REX && (p[1] & ~REGISTER) == PUSH)
		return push(now, 8 + (p[1] & REGISTER));
	if (i->size == 2 && p[0] == PREFIX_REX && (p[1] & ~REGISTER) == POP)
		return pop(now, 8 + (p[1] & REGISTER));
	if (i->size == 4 && !memcmp(p, "\x48\x83\xec", 3) && p[3] < 0x80) {
		now->depth += p[3];
		return now->depth <= MAX_DEPTH;
	}
	if (i->size == 4 && !memcmp(p, "\x48\x83\xc4", 3) && p[3] < 0x80) {
		now->depth -= p[3];
		return now->depth >= MAX(now->fp, WORD);
	}
	if (i->size == 3 && !memcmp(p, "\x48\x89\xe5", 3)) /* mov %rsp, %rbp */
		return now->fp;
	return leaves_frame(r, i);
}

/* A jump to @target with the present frame. Out of the code it is a tail call. */
static bool jump(struct reader *r, const struct instruction *i)
{
	uint64_t to = i->target - r->address;

	if (!i->has_target || to >= r->n)
		return is_entry(&r->now);
	if (to <= i->address - r->address)
		return r->starts[to] && same(&r->frames[to], &r->now);
	if (!r->jumps[to].depth)
		r->jumps[to] = r->now;
	return same(&r->jumps[to], &r->now);
}

static bool branch(struct reader *r, const struct instruction *i)
{
	switch (i->kind) {
	case BRANCH_UNKNOWN:
	case BRANCH_SYSCALL:
		return apply(r, i);
	case BRANCH_CALL:
	case BRANCH_IND_CALL:
		return !strstr(i->text, "sp");
	case BRANCH_COND:
		return jump(r, i);
	case BRANCH_JMP:
		r->known = false;
		return jump(r, i);
	case BRANCH_IND_JMP:
		r->known = false;
		return is_entry(&r->now);
	case BRANCH_RET:
		r->known = false;
		return i->size == 1 && is_entry(&r->now);
	default:
		return false;
	}
}

static void add_row(struct reader *r, size_t at, bool function)
{
	struct unwind_code_row *row = &r->rows[r->n_rows++];

	*row = (struct unwind_code_row){
		.at = (uint32_t)at,
		.function = function,
		.rule = {
			.cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_SP,
			.cfa_offset = r->now.depth,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -WORD,
			.fp = r->now.fp ? UNWIND_SAVED_CFA : UNWIND_SAVED_NOT,
			.fp_offset = -r->now.fp,
		},
	};
}

static void note(struct reader *r, size_t at, bool function)
{
	const struct unwind_rule *last = r->n_rows ? &r->rows[r->n_rows - 1].rule : NULL;

	r->known = true;
	r->starts[at] = true;
	r->frames[at] = r->now;
	if (function || !last || last->cfa_offset != r->now.depth || last->fp_offset != -r->now.fp)
		add_row(r, at, function);
}

/* Finds the frame before the instruction at @at. False where ways with different ones meet. */
static bool meet(struct reader *r, size_t at)
{
	const struct frame jumped = r->jumps[at];

	if (!r->known && jumped.depth == 0) {
		r->now = (struct frame){ .depth = WORD };
		note(r, at, true);
		return true;
	}
	if (!r->known)
		r->now = jumped;
	note(r, at, false);
	return jumped.depth == 0 || same(&jumped, &r->now);
}

static bool is_padding(const struct instruction *i)
{
	return starts_with(i->text, "nop") || starts_with(i->text, "int3") ||
	       !strcmp(i->text, "xchg ax, ax");
}

/* Whether each jump leads to an instruction. */
static bool jumps_meet(const struct reader *r)
{
	for (size_t at = 0; at < r->n; at++)
		if (r->jumps[at].depth && !r->starts[at])
			return false;
	return true;
}

size_t unwind_code_read(struct disassembler *disassembler, const uint8_t *code, size_t n,
			uint64_t address, struct unwind_code_row ret[static UNWIND_CODE_MAX])
{
	struct reader r = { .code = code, .n = n, .address = address, .rows = ret };
	struct instruction i;

	if (n > UNWIND_CODE_MAX)
		return 0;
	for (size_t at = 0; at < n; at += i.size) {
		if (!disassembler_decode(disassembler, code + at, n - at, address + at, &i) ||
		    i.is_data)
			return 0;
		if (!r.known && !r.jumps[at].depth && is_padding(&i))
			continue;
		if (!meet(&r, at) || !branch(&r, &i))
			return 0;
	}
	return r.known || !jumps_meet(&r) ? 0 : r.n_rows;
}
