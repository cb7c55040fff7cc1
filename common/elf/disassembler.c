/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions are classified by capstone's ids. Its groups serve for conditional jumps only,
 * because they differ between versions of capstone.
 */
#include "common/elf/disassembler.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

struct disassembler {
	csh handle;
	bool opened;
	cs_insn *insn;
	bool is_arm;
	uint64_t low, high; /* absolute addresses in instructions; none if equal */
	char text[sizeof(((cs_insn *)NULL)->mnemonic) + sizeof(((cs_insn *)NULL)->op_str) + 1];
};

static const struct machine {
	uint16_t elf;
	cs_arch arch;
	cs_mode mode;
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
};

static const struct machine *find_machine(uint16_t elf)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

int disassembler_new(struct disassembler **ret, uint16_t machine)
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	const struct machine *m = find_machine(machine);

	if (!m)
		return -EOPNOTSUPP;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->is_arm = m->arch == CS_ARCH_ARM64;
	if (cs_open(m->arch, m->mode, &d->handle) != CS_ERR_OK)
		return cs_support((int)m->arch) ? -ENOMEM : -EOPNOTSUPP;
	d->opened = true;
	if (cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		return -ENOMEM;
	d->insn = cs_malloc(d->handle);
	if (!d->insn)
		return -ENOMEM;
	*ret = TAKE_PTR(d);
	return 0;
}

struct disassembler *disassembler_free(struct disassembler *d)
{
	if (!d)
		return NULL;
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->opened)
		cs_close(&d->handle);
	free(d);
	return NULL;
}

int disassembler_set_att(struct disassembler *d)
{
	if (d->is_arm)
		return 0;
	return cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) == CS_ERR_OK ? 0 :
										     -EOPNOTSUPP;
}

void disassembler_set_absolute(struct disassembler *d, uint64_t low, uint64_t high)
{
	d->low = low;
	d->high = high;
}

static enum branch_kind x86_kind(const struct disassembler *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;

	switch (d->insn->id) {
	case X86_INS_JMP:
	case X86_INS_LJMP:
		return direct ? BRANCH_JMP : BRANCH_IND_JMP;
	case X86_INS_CALL:
	case X86_INS_LCALL:
		return direct ? BRANCH_CALL : BRANCH_IND_CALL;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
		return BRANCH_RET;
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
		return BRANCH_SYSCALL;
	case X86_INS_SYSRET:
	case X86_INS_SYSEXIT:
		return BRANCH_SYSRET;
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		return BRANCH_ERET;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
		return BRANCH_COND;
	case X86_INS_XBEGIN: /* jumps on an abort only, which is no branch of its own */
		return BRANCH_UNKNOWN;
	default:
		return cs_insn_group(d->handle, d->insn, CS_GRP_JUMP) ? BRANCH_COND :
									BRANCH_UNKNOWN;
	}
}

static bool is_absolute(const struct disassembler *d, uint64_t value)
{
	return value - d->low < d->high - d->low;
}

static void clear_bytes(struct instruction *i, size_t at, size_t n)
{
	if (at + n <= i->size)
		memset(i->fixed + at, 0, n);
}

/* Zeroes an absolute address in an operand of an instruction that is no branch. */
static void x86_absolute(const struct disassembler *d, const cs_x86_op *op, struct instruction *i)
{
	const cs_x86_encoding *encoding = &d->insn->detail->x86.encoding;

	if (op->type == X86_OP_IMM && encoding->imm_size >= 4 && is_absolute(d, (uint64_t)op->imm))
		clear_bytes(i, encoding->imm_offset, encoding->imm_size);
	if (op->type == X86_OP_MEM && encoding->disp_size >= 4 &&
	    is_absolute(d, (uint64_t)op->mem.disp))
		clear_bytes(i, encoding->disp_offset, encoding->disp_size);
}

/* Zeroes distances from the end of the instruction: a branch's operand, a displacement of rip. */
static void x86_target(const struct disassembler *d, struct instruction *i)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	for (uint8_t k = 0; k < x86->op_count; k++) {
		const cs_x86_op *op = &x86->operands[k];
		size_t at = 0, n = 0;

		if (op->type == X86_OP_IMM && i->kind != BRANCH_UNKNOWN && x86->op_count == 1 &&
		    i->kind != BRANCH_RET && i->kind != BRANCH_SYSCALL) {
			i->target = (uint64_t)op->imm;
			at = x86->encoding.imm_offset;
			n = x86->encoding.imm_size;
		} else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
			i->target = i->address + i->size + (uint64_t)op->mem.disp;
			at = x86->encoding.disp_offset;
			n = x86->encoding.disp_size;
		} else {
			x86_absolute(d, op, i);
			continue;
		}
		i->has_target = true;
		clear_bytes(i, at, n);
	}
}

static enum branch_kind arm_kind(const struct disassembler *d)
{
	arm64_cc cc = d->insn->detail->arm64.cc;

	switch (d->insn->id) {
	case ARM64_INS_B:
		return cc == ARM64_CC_INVALID || cc == ARM64_CC_AL || cc == ARM64_CC_NV ?
			       BRANCH_JMP :
			       BRANCH_COND;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return BRANCH_COND;
	case ARM64_INS_BR:
		return BRANCH_IND_JMP;
	case ARM64_INS_BL:
		return BRANCH_CALL;
	case ARM64_INS_BLR:
		return BRANCH_IND_CALL;
	case ARM64_INS_RET:
		return BRANCH_RET;
	case ARM64_INS_SVC:
		return BRANCH_SYSCALL;
	case ARM64_INS_ERET:
		return BRANCH_ERET;
	default:
		return BRANCH_UNKNOWN;
	}
}

/*
 * Instructions with a relative distance (Arm Architecture Reference Manual, C4.1): the bits that
 * identify a group, and the bits without the distance.
 */
static const struct arm_relative {
	uint32_t mask, value, keep;
} arm_relatives[] = {
	{ 0x7c000000, 0x14000000, 0xfc000000 }, /* b, bl */
	{ 0xff000000, 0x54000000, 0xff00001f }, /* b.cond */
	{ 0x7e000000, 0x34000000, 0xff00001f }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, 0xfff8001f }, /* tbz, tbnz */
	{ 0x1f000000, 0x10000000, 0x9f00001f }, /* adr, adrp */
	{ 0x3b000000, 0x18000000, 0xff00001f }, /* ldr of a literal, prfm */
};

static void arm_target(const struct disassembler *d, struct instruction *i)
{
	const cs_arm64 *arm = &d->insn->detail->arm64;
	const cs_arm64_op *last = &arm->operands[arm->op_count - 1];
	uint32_t word;

	memcpy(&word, i->fixed, sizeof(word));
	for (size_t k = 0; k < ARRAY_SIZE(arm_relatives); k++) {
		if ((word & arm_relatives[k].mask) != arm_relatives[k].value)
			continue;
		word &= arm_relatives[k].keep;
		memcpy(i->fixed, &word, sizeof(word));
		i->has_target = arm->op_count > 0 && last->type == ARM64_OP_IMM;
		i->target = i->has_target ? (uint64_t)last->imm : 0;
		return;
	}
}

static void describe(struct disassembler *d, struct instruction *i)
{
	i->kind = d->is_arm ? arm_kind(d) : x86_kind(d);
	if (d->is_arm)
		arm_target(d, i);
	else
		x86_target(d, i);
}

static void write_data(struct disassembler *d, const struct instruction *i)
{
	size_t n = 0;
	uint32_t word;

	if (d->is_arm && i->size == sizeof(word)) {
		memcpy(&word, i->fixed, sizeof(word));
		snprintf(d->text, sizeof(d->text), ".word 0x%08x", word);
		return;
	}
	for (size_t k = 0; k < i->size; k++)
		n += (size_t)snprintf(d->text + n, sizeof(d->text) - n, "%s0x%02x",
				      k == 0 ? ".byte " : ", ", i->fixed[k]);
}

/*
 * The size of an instruction that capstone cannot decode. Shadow-stack instructions (rdssp, incssp)
 * are in the unwinders of all distributions; if they were skipped byte by byte, the code behind
 * them would be decoded wrongly. They are f3, rex, 0f, 1e or ae, and a byte for the register.
 */
static size_t unknown_size(const struct disassembler *d, const uint8_t *code, size_t n)
{
	size_t k = 1;

	if (d->is_arm)
		return n >= 4 ? 4 : 1;
	if (n < 5 || code[0] != 0xf3)
		return 1;
	k += (code[k] & 0xf0) == 0x40;
	if (code[k] != 0x0f || (code[k + 1] != 0x1e && code[k + 1] != 0xae) || code[k + 2] < 0xc0)
		return 1;
	return k + 3;
}

bool disassembler_read(struct disassembler *d, const uint8_t *code, size_t n, uint64_t address,
		       struct instruction *ret)
{
	const uint8_t *at = code;
	uint64_t next = address;
	size_t left = n;
	bool decoded;

	if (n == 0)
		return false;
	decoded = cs_disasm_iter(d->handle, &at, &left, &next, d->insn) &&
		  d->insn->size <= INSTRUCTION_MAX;
	*ret = (struct instruction){ .address = address };
	ret->size = decoded ? d->insn->size : unknown_size(d, code, n);
	memcpy(ret->fixed, code, ret->size);
	ret->is_data = !decoded;
	if (decoded)
		describe(d, ret);
	return true;
}

bool disassembler_decode(struct disassembler *d, const uint8_t *code, size_t n, uint64_t address,
			 struct instruction *ret)
{
	if (!disassembler_read(d, code, n, address, ret))
		return false;
	if (ret->is_data)
		write_data(d, ret);
	else
		snprintf(d->text, sizeof(d->text), "%s%s%s", d->insn->mnemonic,
			 d->insn->op_str[0] ? " " : "", d->insn->op_str);
	ret->text = d->text;
	return true;
}
