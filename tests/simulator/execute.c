/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * execute: runs the instructions of one task and reports each branch.
 *
 * A straight run goes at full speed up to a breakpoint at its last instruction, a branch; the
 * branch itself is computed from the registers (outcome.c), and so is the next one if the target is
 * a branch as well. That makes one stop for a run, not one for an instruction, five times fewer.
 * With --step the processor steps each instruction instead, and each computed outcome is compared
 * with what the processor did: both ways must give the same truth.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tests/simulator/code.h"
#include "tests/simulator/options.h"
#include "tests/simulator/outcome.h"
#include "tests/simulator/simulation.h"
#include "tests/simulator/space.h"
#include "tests/simulator/truth.h"

#define INSN_BYTES_MAX    15
#define MISPREDICT_CYCLES 14
/* Offset of the saved rip in the kernel's struct rt_sigframe, from the handler's rsp. */
#define SIGFRAME_RIP      176

/* What is known of a branch once it is executed. */

static bool task_is_sampled(const struct simulation *s, const struct task *task)
{
	return !s->options->named || strcmp(s->options->named, task->comm) == 0;
}

void task_advance(struct simulation *s, struct task *task, uint64_t n)
{
	task->n_insns += n;
	task->run_insns += n;
	s->time += n * s->options->ns;
	if (!s->options->count_branches && task_is_sampled(s, task))
		task->until_sample -= n;
	truth_add_insns(s->truth, n);
}

static uint64_t run_cycles(const struct simulation *s, const struct task *task,
			   const struct branch *b)
{
	uint64_t h = (s->options->seed ^ b->insn->addr * 31 ^ b->target) * 0x9e3779b97f4a7c15ULL;

	return task->run_insns + (h >> 62) + (b->mispredicted ? MISPREDICT_CYCLES : 0);
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT;
}

static void task_log_record(struct task *task, const struct branch *b)
{
	struct lbr_record record = {
		.from = b->insn->addr,
		.to = b->target,
		.image = b->image,
		.serial = task->n_calls,
		.cycles = task->logged_cycles > UINT16_MAX ? UINT16_MAX : task->logged_cycles,
		.mispredicted = b->mispredicted,
		.broken = task->run_broken,
	};

	task->logged_cycles = 0;
	lbr_push(&task->lbr, &record);
}

static void task_log(struct task *task, const struct branch *b)
{
	task->logged_cycles += b->cycles;
	if (!task->lbr.is_stack) {
		task_log_record(task, b);
	} else if (is_call(b->insn)) {
		if (b->target != b->insn->next)
			task_log_record(task, b);
	} else if (b->insn->kind == INSN_RETURN) {
		lbr_pop(&task->lbr);
		task->logged_cycles = 0;
	}
}

/* A coroutine that begins was not called, but where it will return to lies on its stack. */
static void task_begin_coroutine(struct task *task, struct shadow *shadow, uint64_t rsp)
{
	struct shadow_entry entry = { .slot = rsp, .word = rsp };

	if (task_peek(task, rsp, &entry.return_addr) < 0 ||
	    !space_overlaps(task->space, entry.return_addr, entry.return_addr + 1))
		return;
	entry.call = entry.return_addr;
	shadow_push(shadow, &entry);
}

struct shadow *task_trim_stack(struct task *task, uint64_t rsp)
{
	struct shadow *before = task->shadows.current;
	struct shadow *shadow = shadow_set_enter(&task->shadows, task->tid, rsp);

	task->is_jumping |= shadow_trim(shadow, rsp) || shadow != before;
	return shadow;
}

/* longjmp, an exception, a switch of coroutines. */
static void task_end_jump(struct simulation *s, struct task *task, const struct outcome *out)
{
	struct shadow *shadow = task_trim_stack(task, out->rsp);

	if (shadow->n_entries == 0 && !shadow->interrupted && shadow != task->shadows.all[0])
		task_begin_coroutine(task, shadow, out->rsp);
	truth_add_jump(s->truth, s->time, task->tid, out->target, shadow);
	task->is_jumping = false;
}

static void task_follow_stack(struct simulation *s, struct task *task, const struct insn *insn,
			      const struct outcome *out)
{
	struct shadow_entry entry = { .slot = out->rsp,
				      .word = out->rsp,
				      .call = insn->addr,
				      .return_addr = insn->next,
				      .serial = task->n_calls };
	uint64_t slot = out->rsp - 8 - insn->pop_bytes;
	struct shadow *shadow;

	if (out->push && out->target != insn->next) {
		shadow = shadow_set_enter(&task->shadows, task->tid, out->rsp);
		shadow_push(shadow, &entry);
	} else if (insn->kind == INSN_RETURN) {
		shadow = task_trim_stack(task, slot);
		if (!shadow_returns(shadow, slot, out->target))
			task_end_jump(s, task, out);
		shadow_trim(shadow, out->rsp);
	} else if (insn->kind == INSN_JUMP_INDIRECT) {
		task_trim_stack(task, out->rsp);
		if (task->is_jumping)
			task_end_jump(s, task, out);
	}
}

void task_begin_run(struct task *task, bool broken)
{
	task->run_start = task->regs.rip;
	task->run_insns = 0;
	task->run_broken = broken;
}

/* The registers are those after the branch. */
static void task_branched(struct simulation *s, struct task *task, struct insn *insn,
			  const struct outcome *out)
{
	struct branch b = {
		.insn = insn,
		.image = task->space->image,
		.run_start = task->run_start,
		.target = out->target,
		.taken = out->taken,
	};

	task_advance(s, task, 1);
	b.mispredicted = predictor_execute(&task->predictor, insn, out->taken, out->target);
	if (b.taken)
		b.cycles = run_cycles(s, task, &b);
	truth_add_branch(s->truth, &b);
	if (!b.taken)
		return;
	task->n_taken++;
	task->n_calls += is_call(insn);
	task_log(task, &b);
	task_follow_stack(s, task, insn, out);
	if (s->options->count_branches && task_is_sampled(s, task))
		task->until_sample--;
	task_begin_run(task, false);
}

/* Signals. */

static bool is_handler_entry(const struct user_regs_struct *before,
			     const struct user_regs_struct *now, int sig)
{
	return sig && now->rdi == (uint64_t)sig && now->rax == 0 && now->rsp != before->rsp &&
	       now->rip != before->rip;
}

/* A handler may have changed where the interrupted code goes on. */
void task_refresh_interrupted(struct task *task)
{
	for (struct shadow *s = task->shadows.current; s; s = s->interrupted)
		for (size_t i = 0; i < s->n_entries; i++)
			if (s->entries[i].is_signal) {
				task_peek(task, s->entries[i].word, &s->entries[i].return_addr);
				s->entries[i].call = s->entries[i].return_addr;
			}
}

void task_enter_handler(struct task *task, uint64_t interrupted)
{
	uint64_t rsp = task->regs.rsp, restorer = 0;
	struct shadow_entry entry = { .slot = rsp + 8,
				      .word = rsp + SIGFRAME_RIP,
				      .is_signal = true };
	struct shadow *shadow = shadow_set_interrupt(&task->shadows, task->tid, rsp);

	task_peek(task, rsp + SIGFRAME_RIP, &interrupted);
	task_peek(task, rsp, &restorer);
	entry.call = entry.return_addr = interrupted;
	shadow_push(shadow, &entry);
	entry = (struct shadow_entry){
		.slot = rsp, .word = rsp, .call = restorer, .return_addr = restorer
	};
	shadow_push(shadow, &entry);
	task_begin_run(task, true);
}

/* One instruction, by the processor. */

/* rip is still at the instruction: it repeats (rep), has not begun, or cannot be stepped. Lets it
 * come to its end at once. */
static enum stop task_finish_repeat(struct simulation *s, struct task *task,
				    const struct insn *insn)
{
	struct insn *next = code_find_insn(task->space->code, insn->next);
	enum stop stop;

	if (!next || code_patch(task->space->code, next) < 0)
		return STOP_STEP;
	stop = task_resume(s, task, PTRACE_CONT, 0);
	if (stop != STOP_STEP && stop != STOP_SIGNAL)
		return stop;
	/* it lies within runs, where only ends may be patched */
	code_unpatch(task->space->code, next);
	if (stop == STOP_STEP && task->regs.rip == next->addr + 1) {
		task->regs.rip = next->addr;
		task->regs_dirty = true;
	}
	return stop;
}

static enum stop step_plain(struct simulation *s, struct task *task, const struct insn *insn)
{
	enum stop stop = STOP_STEP;

	if (task->regs.rip == insn->addr)
		stop = task_finish_repeat(s, task, insn);
	if (stop == STOP_STEP && task->regs.rip == insn->next)
		task_advance(s, task, 1);
	return stop;
}

/* What the disassembler cannot know: a step forward is none of its business, anything else breaks
 * the run. */
static enum stop step_other(struct simulation *s, struct task *task, uint64_t addr)
{
	uint64_t rip = task->regs.rip;

	if (rip == addr)
		return STOP_STEP;
	task_advance(s, task, 1);
	if (rip < addr || rip > addr + INSN_BYTES_MAX)
		task_begin_run(task, true);
	return STOP_STEP;
}

static void step_branch(struct simulation *s, struct task *task, struct insn *insn,
			struct outcome *out, int known)
{
	uint64_t rip = task->regs.rip;

	if (known < 0) {
		out->target = rip;
		out->taken = rip != insn->next || insn->kind != INSN_CONDITIONAL;
		out->rsp = task->regs.rsp;
		out->push = is_call(insn);
	} else if (rip != (out->taken ? out->target : insn->next)) {
		s->n_divergences++;
		fprintf(stderr,
			"branch-simulator: branch at %#" PRIx64 " went to %#" PRIx64
			", expected %#" PRIx64 "\n",
			insn->addr, rip, out->taken ? out->target : insn->next);
		out->target = rip;
		out->taken = true;
	}
	task_branched(s, task, insn, out);
}

static enum stop task_step(struct simulation *s, struct task *task, int sig)
{
	struct insn *insn = code_find_insn(task->space->code, task->regs.rip);
	const struct user_regs_struct before = task->regs;
	struct outcome out;
	enum stop stop;
	int known;

	if (insn)
		code_unpatch(task->space->code, insn);
	if (insn && insn->kind == INSN_SYSCALL)
		return task_step_syscall(s, task, insn, sig);
	known = insn ? outcome_compute(task, insn, &out) : -EFAULT;
	/* step_plain() goes on from here */
	stop = insn && insn->is_cpuid && !sig ? STOP_STEP :
						task_resume(s, task, PTRACE_SINGLESTEP, sig);
	if (stop != STOP_STEP)
		return stop;
	if (is_handler_entry(&before, &task->regs, sig)) {
		task_enter_handler(task, before.rip);
		return STOP_AGAIN;
	}
	if (!insn || insn->kind == INSN_OTHER)
		return step_other(s, task, before.rip);
	if (insn->kind == INSN_PLAIN)
		return step_plain(s, task, insn);
	/* a stop before the first instruction of a task or image, not after it */
	if (task->regs.rip == before.rip && !(known >= 0 && out.taken && out.target == before.rip))
		return STOP_AGAIN;
	step_branch(s, task, insn, &out, known);
	return STOP_STEP;
}

/* A straight run, by a breakpoint. */

/* How many instructions of the block lie before rip; negative if rip is not in it. */
static int block_count(struct task *task, const struct block *block)
{
	uint64_t addr = block->start;
	struct insn *insn;
	int n = 0;

	while (addr != task->regs.rip) {
		insn = code_find_insn(task->space->code, addr);
		if (!insn || addr == block->end->addr)
			return -ENOENT;
		addr = insn->next;
		n++;
	}
	return n;
}

/* Stopped somewhere else than at the block's end: by a signal, or since the kernel has set rip back
 * to a system call. */
static enum stop task_stopped_within(struct simulation *s, struct task *task,
				     const struct block *block, enum stop stop)
{
	struct insn *insn;
	int n;

	if (stop == STOP_STEP) {
		insn = code_find_insn(task->space->code, task->regs.rip - 1);
		if (insn && insn->patched) {
			task->regs.rip--;
			task->regs_dirty = true;
		}
	}
	n = block_count(task, block);
	if (n >= 0)
		task_advance(s, task, n);
	else
		task_begin_run(task, true);
	return stop == STOP_STEP ? STOP_AGAIN : stop;
}

static enum stop task_run_straight(struct simulation *s, struct task *task,
				   const struct block *block)
{
	enum stop stop;

	if (block->n_insns == 1)
		return STOP_STEP;
	if (code_patch(task->space->code, block->end) < 0) {
		stop = task_step(s, task, 0);
		return stop == STOP_STEP ? STOP_AGAIN : stop;
	}
	stop = task_resume(s, task, PTRACE_CONT, 0);
	if (stop != STOP_STEP && stop != STOP_SIGNAL)
		return stop;
	if (stop == STOP_SIGNAL || task->regs.rip != block->end->addr + 1)
		return task_stopped_within(s, task, block, stop);
	task->regs.rip = block->end->addr;
	task->regs_dirty = true;
	task_advance(s, task, block->n_insns - 1);
	return STOP_STEP;
}

/* The branch at rip, by computing; by the processor where that is not possible. */
static enum stop task_execute_branch(struct simulation *s, struct task *task, struct insn *insn)
{
	struct outcome out;

	if (outcome_compute(task, insn, &out) < 0)
		return task_step(s, task, 0);
	if (out.push && ptrace(PTRACE_POKEDATA, task->tid, out.rsp, insn->next) < 0)
		return task_step(s, task, 0);
	task->regs.rip = out.taken ? out.target : insn->next;
	task->regs.rsp = out.rsp;
	task->regs.rcx = out.rcx;
	task->regs_dirty = true;
	task_branched(s, task, insn, &out);
	return STOP_STEP;
}

enum stop task_execute(struct simulation *s, struct task *task)
{
	struct block *block;
	enum stop stop;
	int sig;

	if (task->pending_signal) {
		sig = task->pending_signal;
		task->pending_signal = 0;
		return task_step(s, task, sig);
	}
	block = code_find_block(task->space->code, task->regs.rip);
	if (!block || s->options->step)
		return task_step(s, task, 0);
	if (!s->options->count_branches && task_is_sampled(s, task) &&
	    task->until_sample < block->n_insns)
		return task_step(s, task, 0);
	stop = task_run_straight(s, task, block);
	if (stop != STOP_STEP)
		return stop;
	return task_execute_branch(s, task, block->end);
}
