/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outcome: what a branch will do, computed from the registers and the memory of its task. */
#include "tests/simulator/outcome.h"

#include <errno.h>
#include <sys/ptrace.h>

#include "tests/simulator/code.h"
#include "tests/simulator/simulation.h"

enum {
	FLAG_CF = 1 << 0,
	FLAG_PF = 1 << 2,
	FLAG_ZF = 1 << 6,
	FLAG_SF = 1 << 7,
	FLAG_OF = 1 << 11,
};

int task_peek(const struct task *task, uint64_t addr, uint64_t *ret)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, task->tid, addr, NULL);
	if (errno)
		return -errno;
	*ret = word;
	return 0;
}

static uint64_t regs_get(const struct user_regs_struct *regs, int reg)
{
	return reg < 0 ? 0 : ((const unsigned long long *)regs)[reg];
}

static bool condition_flags(uint64_t flags, unsigned condition)
{
	bool sign = !!(flags & FLAG_SF) != !!(flags & FLAG_OF);
	bool r;

	switch (condition >> 1) {
	case 0:
		r = flags & FLAG_OF;
		break;
	case 1:
		r = flags & FLAG_CF;
		break;
	case 2:
		r = flags & FLAG_ZF;
		break;
	case 3:
		r = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		r = flags & FLAG_SF;
		break;
	case 5:
		r = flags & FLAG_PF;
		break;
	case 6:
		r = sign;
		break;
	default:
		r = sign || flags & FLAG_ZF;
	}
	return r != (condition & 1);
}

static bool condition_loop(const struct user_regs_struct *regs, unsigned condition)
{
	bool zero = regs->eflags & FLAG_ZF;

	switch (condition) {
	case CONDITION_LOOPNE:
		return regs->rcx != 1 && !zero;
	case CONDITION_LOOPE:
		return regs->rcx != 1 && zero;
	case CONDITION_LOOP:
		return regs->rcx != 1;
	case CONDITION_ECXZ:
		return (uint32_t)regs->rcx == 0;
	default:
		return regs->rcx == 0;
	}
}

static void conditional_compute(const struct task *task, const struct insn *insn,
				struct outcome *out)
{
	out->target = insn->target;
	if (insn->condition < CONDITION_LOOPNE) {
		out->taken = condition_flags(task->regs.eflags, insn->condition);
		return;
	}
	out->taken = condition_loop(&task->regs, insn->condition);
	if (insn->condition <= CONDITION_LOOP)
		out->rcx--;
}

static int indirect_compute(const struct task *task, const struct insn *insn, uint64_t *ret)
{
	const struct user_regs_struct *regs = &task->regs;
	uint64_t addr;

	if (!insn->is_memory) {
		*ret = regs_get(regs, insn->base);
		return 0;
	}
	addr = regs_get(regs, insn->segment) + regs_get(regs, insn->base) +
	       regs_get(regs, insn->index) * insn->scale + insn->displacement;
	return task_peek(task, addr, ret);
}

int outcome_compute(const struct task *task, const struct insn *insn, struct outcome *out)
{
	*out = (struct outcome){ .taken = true, .rsp = task->regs.rsp, .rcx = task->regs.rcx };
	if (insn->is_odd)
		return -EOPNOTSUPP;
	switch (insn->kind) {
	case INSN_CONDITIONAL:
		conditional_compute(task, insn, out);
		return 0;
	case INSN_JUMP:
		out->target = insn->target;
		return 0;
	case INSN_JUMP_INDIRECT:
		return indirect_compute(task, insn, &out->target);
	case INSN_CALL:
		out->push = true;
		out->rsp -= 8;
		out->target = insn->target;
		return 0;
	case INSN_CALL_INDIRECT:
		out->push = true;
		out->rsp -= 8;
		return indirect_compute(task, insn, &out->target);
	case INSN_RETURN:
		out->rsp += 8 + insn->pop_bytes;
		return task_peek(task, task->regs.rsp, &out->target);
	default:
		return -EOPNOTSUPP;
	}
}
