/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decode: what one x86-64 instruction is, as far as a branch recorder asks.
 *
 * Capstone gives length, groups and operands. Whether something is a transfer is decided by
 * capstone's instruction id and group, never by opcode bytes alone, since VEX-coded instructions
 * reuse them.
 */
#include "tests/simulator/decode.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/user.h>

#include "tests/simulator/code.h"

#define REG(name) (offsetof(struct user_regs_struct, name) / sizeof(unsigned long long))

static csh decode_handle(void)
{
	static csh handle;

	if (handle)
		return handle;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK ||
	    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK) {
		fputs("branch-simulator: capstone does not know x86-64\n", stderr);
		exit(EXIT_FAILURE);
	}
	return handle;
}

/* Index into user_regs_struct, REG_NONE for none, and -2 for what is not a 64-bit register. */
static int decode_reg(x86_reg reg)
{
	switch (reg) {
	case X86_REG_INVALID:
	case X86_REG_RIZ:
		return REG_NONE;
	case X86_REG_RAX:
		return REG(rax);
	case X86_REG_RBX:
		return REG(rbx);
	case X86_REG_RCX:
		return REG(rcx);
	case X86_REG_RDX:
		return REG(rdx);
	case X86_REG_RSI:
		return REG(rsi);
	case X86_REG_RDI:
		return REG(rdi);
	case X86_REG_RBP:
		return REG(rbp);
	case X86_REG_RSP:
		return REG(rsp);
	case X86_REG_R8:
		return REG(r8);
	case X86_REG_R9:
		return REG(r9);
	case X86_REG_R10:
		return REG(r10);
	case X86_REG_R11:
		return REG(r11);
	case X86_REG_R12:
		return REG(r12);
	case X86_REG_R13:
		return REG(r13);
	case X86_REG_R14:
		return REG(r14);
	case X86_REG_R15:
		return REG(r15);
	case X86_REG_FS:
		return REG(fs_base);
	case X86_REG_GS:
		return REG(gs_base);
	default:
		return -2;
	}
}

static void decode_memory(struct insn *insn, const x86_op_mem *mem)
{
	int base = decode_reg(mem->base);

	insn->is_memory = true;
	insn->displacement = mem->disp;
	insn->scale = mem->scale;
	insn->index = decode_reg(mem->index);
	insn->segment = decode_reg(mem->segment);
	if (mem->base == X86_REG_RIP) {
		base = REG_NONE;
		insn->displacement += insn->next;
	}
	insn->base = base;
	insn->is_odd = base == -2 || insn->index == -2 || insn->segment == -2;
}

/* The target of a near jump or call, direct or not; the kind comes out accordingly. */
static void decode_target(struct insn *insn, const cs_x86 *x86, enum insn_kind direct,
			  enum insn_kind indirect)
{
	const cs_x86_op *op = &x86->operands[0];

	insn->base = insn->index = insn->segment = REG_NONE;
	insn->kind = indirect;
	switch (op->type) {
	case X86_OP_IMM:
		insn->kind = direct;
		insn->target = op->imm;
		break;
	case X86_OP_REG:
		insn->base = decode_reg(op->reg);
		insn->is_odd = insn->base < 0;
		break;
	case X86_OP_MEM:
		decode_memory(insn, &op->mem);
		break;
	default:
		insn->kind = INSN_OTHER;
	}
}

static void decode_conditional(struct insn *insn, const cs_x86 *x86, uint8_t condition)
{
	insn->kind = INSN_CONDITIONAL;
	insn->condition = condition;
	insn->target = x86->operands[0].imm;
	insn->is_odd = x86->addr_size != 8;
}

static void decode_jump(struct insn *insn, const cs_x86 *x86)
{
	uint8_t opcode = x86->opcode[0] == 0x0f ? x86->opcode[1] : x86->opcode[0];

	decode_conditional(insn, x86, opcode & 15);
}

static void decode_return(struct insn *insn, const cs_x86 *x86)
{
	insn->kind = INSN_RETURN;
	if (x86->op_count > 0)
		insn->pop_bytes = x86->operands[0].imm;
}

static void decode_kind(struct insn *insn, csh handle, const cs_insn *cs)
{
	const cs_x86 *x86 = &cs->detail->x86;

	switch (cs->id) {
	case X86_INS_JMP:
		decode_target(insn, x86, INSN_JUMP, INSN_JUMP_INDIRECT);
		return;
	case X86_INS_CALL:
		decode_target(insn, x86, INSN_CALL, INSN_CALL_INDIRECT);
		return;
	case X86_INS_RET:
		decode_return(insn, x86);
		return;
	case X86_INS_LOOPNE:
		decode_conditional(insn, x86, CONDITION_LOOPNE);
		return;
	case X86_INS_LOOPE:
		decode_conditional(insn, x86, CONDITION_LOOPE);
		return;
	case X86_INS_LOOP:
		decode_conditional(insn, x86, CONDITION_LOOP);
		return;
	case X86_INS_JRCXZ:
		decode_conditional(insn, x86, CONDITION_RCXZ);
		return;
	case X86_INS_JECXZ:
		decode_conditional(insn, x86, CONDITION_ECXZ);
		return;
	case X86_INS_SYSCALL:
		insn->kind = INSN_SYSCALL;
		return;
	case X86_INS_CPUID:
		insn->is_cpuid = true;
		return;
	case X86_INS_LCALL:
	case X86_INS_LJMP:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_SYSENTER:
	case X86_INS_XBEGIN:
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_POPF:
	case X86_INS_POPFQ:
		insn->kind = INSN_OTHER;
		return;
	default:
		break;
	}
	if (cs_insn_group(handle, cs, CS_GRP_JUMP))
		decode_jump(insn, x86);
	else if (cs_insn_group(handle, cs, CS_GRP_INT) || cs_insn_group(handle, cs, CS_GRP_IRET))
		insn->kind = INSN_OTHER;
}

void decode_insn(struct insn *insn, const uint8_t *bytes, size_t n_bytes)
{
	csh handle = decode_handle();
	static cs_insn *cs;
	uint64_t addr = insn->addr;

	if (!cs)
		cs = cs_malloc(handle);
	insn->length = 1;
	insn->kind = INSN_OTHER;
	insn->next = insn->addr + 1;
	if (!cs || !cs_disasm_iter(handle, &bytes, &n_bytes, &addr, cs))
		return;
	insn->length = cs->size;
	insn->kind = INSN_PLAIN;
	insn->next = insn->addr + cs->size;
	decode_kind(insn, handle, cs);
}
