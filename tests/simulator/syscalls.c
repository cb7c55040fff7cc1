/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscalls: takes a task through a system call.
 *
 * System calls are stepped over by the processor; the step ends right behind the call, before
 * another instruction runs. One that may wait for another task of the program is not waited for:
 * the task is polled from then on. A call that was interrupted and will be restarted is stepped
 * again until it has an answer.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "tests/simulator/code.h"
#include "tests/simulator/simulation.h"
#include "tests/simulator/space.h"

#define ERESTART_FIRST 512 /* ERESTARTSYS .. ERESTART_RESTARTBLOCK, inside the kernel only */
#define ERESTART_LAST  516

static bool syscall_may_block(uint64_t number)
{
	static const uint16_t numbers[] = {
		SYS_read,          SYS_write,       SYS_poll,
		SYS_readv,         SYS_writev,      SYS_select,
		SYS_pause,         SYS_nanosleep,   SYS_connect,
		SYS_accept,        SYS_accept4,     SYS_sendto,
		SYS_recvfrom,      SYS_sendmsg,     SYS_recvmsg,
		SYS_wait4,         SYS_waitid,      SYS_fcntl,
		SYS_flock,         SYS_msgsnd,      SYS_msgrcv,
		SYS_semop,         SYS_semtimedop,  SYS_futex,
		SYS_epoll_wait,    SYS_epoll_pwait, SYS_clock_nanosleep,
		SYS_pselect6,      SYS_ppoll,       SYS_rt_sigtimedwait,
		SYS_rt_sigsuspend, SYS_execve,      SYS_execveat,
		SYS_open,          SYS_openat,
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool syscall_changes_code(const struct task *task)
{
	const struct syscall_state *call = &task->syscall;
	uint64_t start = call->args[0];

	switch (call->number) {
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		if (call->args[2] & PROT_EXEC || task->space->with_data)
			return true;
		return space_overlaps(task->space, start, start + call->args[1]);
	case SYS_munmap:
	case SYS_mremap:
		return space_overlaps(task->space, start, start + call->args[1]);
	default:
		return false;
	}
}

static void syscall_finish(struct simulation *s, struct task *task)
{
	struct event_origin now;

	task_advance(s, task, 1);
	if (syscall_changes_code(task))
		task_update_space(s, task);
	if (task->syscall.number == SYS_prctl && task->syscall.args[0] == PR_SET_NAME) {
		task_read_comm(task);
		now = simulation_now(s, task);
		recording_add_comm(s->recording, &now, task->comm, false);
	}
	if (task->syscall.number == SYS_rt_sigreturn) {
		task_trim_stack(task, task->regs.rsp);
		task->is_jumping = false;
		task_begin_run(task, true);
	}
	task->syscall.insn = NULL;
}

static bool syscall_restarts(const struct task *task)
{
	uint64_t error = -task->regs.rax;

	return error >= ERESTART_FIRST && error <= ERESTART_LAST;
}

/* True if the call has come to an end. Otherwise it is to be resumed. */
static bool syscall_stopped(struct simulation *s, struct task *task)
{
	struct insn *insn = task->syscall.insn;

	if (task->syscall.number != SYS_rt_sigreturn) {
		if (task->regs.rip == insn->next && syscall_restarts(task))
			return false;
		if (task->regs.rip == insn->addr)
			return false;
		if (task->regs.rip ==
		    insn->addr + 1) { /* restarted into a breakpoint set meanwhile */
			code_unpatch(task->space->code, insn);
			task->regs.rip = insn->addr;
			task->regs_dirty = true;
			return false;
		}
	}
	if (task->regs.rip != insn->next && task->syscall.number != SYS_rt_sigreturn) {
		task_advance(s, task, 1);
		task->syscall.insn = NULL;
		task_enter_handler(task, insn->next);
		return true;
	}
	syscall_finish(s, task);
	return true;
}

enum stop syscall_continue(struct simulation *s, struct task *task, enum stop stop)
{
	int sig;

	for (;;) {
		if (stop == STOP_BLOCKED)
			task->state = TASK_BLOCKED;
		if (stop != STOP_STEP && stop != STOP_SIGNAL)
			return stop;
		task->state = TASK_RUNNABLE;
		if (stop == STOP_STEP && syscall_stopped(s, task))
			return STOP_STEP;
		sig = task->pending_signal;
		task->pending_signal = 0;
		stop = task_resume(s, task, PTRACE_SINGLESTEP, sig);
	}
}

enum stop task_step_syscall(struct simulation *s, struct task *task, struct insn *insn, int sig)
{
	const struct user_regs_struct *regs = &task->regs;

	task->syscall = (struct syscall_state){
		.insn = insn,
		.number = regs->rax,
		.args = { regs->rdi, regs->rsi, regs->rdx },
		.may_block = syscall_may_block(regs->rax),
	};
	return syscall_continue(s, task, task_resume(s, task, PTRACE_SINGLESTEP, sig));
}
