/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* predictor: a simple and exactly repeatable branch predictor. The rules are in predictor.h. */
#include "tests/simulator/predictor.h"

#include "tests/simulator/code.h"

static bool predict_conditional(struct insn *insn, bool taken)
{
	bool predicted = insn->counter >= 2;

	if (taken && insn->counter < 3)
		insn->counter++;
	else if (!taken && insn->counter > 0)
		insn->counter--;
	return predicted != taken;
}

static bool predict_indirect(struct insn *insn, uint64_t target)
{
	bool mispredicted = insn->last_target != target;

	insn->last_target = target;
	return mispredicted;
}

static void predict_call(struct predictor *p, uint64_t return_addr)
{
	p->top = (p->top + 1) % PREDICTOR_RETURNS;
	p->returns[p->top] = return_addr;
}

static bool predict_return(struct predictor *p, uint64_t target)
{
	bool mispredicted = p->returns[p->top] != target;

	p->top = (p->top + PREDICTOR_RETURNS - 1) % PREDICTOR_RETURNS;
	return mispredicted;
}

bool predictor_execute(struct predictor *p, struct insn *insn, bool taken, uint64_t target)
{
	switch (insn->kind) {
	case INSN_CONDITIONAL:
		return predict_conditional(insn, taken);
	case INSN_JUMP_INDIRECT:
		return predict_indirect(insn, target);
	case INSN_CALL_INDIRECT:
		predict_call(p, insn->next);
		return predict_indirect(insn, target);
	case INSN_CALL:
		if (target != insn->next)
			predict_call(p, insn->next);
		return false;
	case INSN_RETURN:
		return predict_return(p, target);
	default:
		return false;
	}
}
