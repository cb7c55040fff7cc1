/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * events: follows what the kernel does to tasks: fork, exec, exit, signals. For system calls see
 * syscalls.c.
 *
 * Limit: exec by a thread that is not the leader keeps the leader's branch records instead of the
 * thread's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/simulator/code.h"
#include "tests/simulator/options.h"
#include "tests/simulator/simulation.h"
#include "tests/simulator/space.h"
#include "tests/simulator/truth.h"

#define POLLS_MAX 32

#define TRACE_OPTIONS                                                                          \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | \
	 PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)

int task_fetch_regs(struct task *task)
{
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &task->regs) < 0)
		return -errno;
	task->regs_dirty = false;
	return 0;
}

void task_read_comm(struct task *task)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)task->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(task->comm, sizeof(task->comm), f))
		task->comm[strcspn(task->comm, "\n")] = '\0';
	fclose(f);
}

/* Mappings. */

struct mapping_ctx {
	struct simulation *simulation;
	const struct task *task;
};

static void on_mapping(void *ctx, const struct mapping *mapping)
{
	const struct mapping_ctx *c = ctx;
	struct event_origin now = simulation_now(c->simulation, c->task);

	recording_add_mapping(c->simulation->recording, &now, mapping);
	if (mapping->prot & PROT_EXEC)
		truth_add_mapping(c->simulation->truth, &now, c->task->space->image, mapping);
}

void task_update_space(struct simulation *s, struct task *task)
{
	struct mapping_ctx ctx = { .simulation = s, .task = task };

	space_update(task->space, task->tid, on_mapping, &ctx);
}

static void on_inherited_mapping(void *ctx, const struct mapping *mapping)
{
	const struct mapping_ctx *c = ctx;
	struct event_origin now = simulation_now(c->simulation, c->task);

	/* no record: a reader knows from FORK that the child has them */
	if (mapping->prot & PROT_EXEC)
		truth_add_mapping(c->simulation->truth, &now, c->task->space->image, mapping);
}

/* The end of tasks. */

static void task_record_exit(struct simulation *s, struct task *task)
{
	struct event_origin now = simulation_now(s, task);

	if (task->state == TASK_EXITING)
		return;
	task->state = TASK_EXITING;
	recording_add_exit(s->recording, &now, task->ppid);
	truth_add_task(s->truth, &now, task->ppid, task->n_insns, task->n_taken, task->comm);
}

static enum stop on_exiting(struct simulation *s, struct task *task)
{
	task_record_exit(s, task);
	ptrace(PTRACE_CONT, task->tid, NULL, NULL);
	return STOP_GONE;
}

static enum stop on_reaped(struct simulation *s, struct task *task)
{
	task_record_exit(s, task);
	simulation_remove_task(s, task);
	return STOP_GONE;
}

/* The beginning of tasks. */

static uint64_t clone_flags(const struct task *task)
{
	const struct syscall_state *call = &task->syscall;

	switch (call->number) {
	case SYS_vfork:
		return CLONE_VM | CLONE_VFORK;
	case SYS_clone:
		return call->args[0];
	case SYS_clone3: /* the flags are the first member of struct clone_args */
		return ptrace(PTRACE_PEEKDATA, task->tid, call->args[0], NULL);
	default:
		return 0;
	}
}

static struct space *child_space(struct simulation *s, const struct task *parent, pid_t tid,
				 uint64_t flags)
{
	struct space *space;
	char path[64];
	int fd;

	if (flags & CLONE_VM)
		return space_ref(parent->space);
	if (space_new(&space, tid, s->n_images, s->options->n_stack > 0) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || code_unpatch_copy(parent->space->code, fd) < 0)
		fprintf(stderr, "branch-simulator: breakpoints are left in a child: %m\n");
	if (fd >= 0)
		close(fd);
	s->n_images++;
	return space;
}

static void child_begin(struct simulation *s, struct task *child, const struct task *parent)
{
	struct mapping_ctx ctx = { .simulation = s, .task = child };
	struct event_origin now;

	memcpy(child->comm, parent->comm, sizeof(child->comm));
	task_fetch_regs(child);
	/* a child on a stack of its own begins a call stack of its own */
	if (child->regs.rsp == parent->regs.rsp)
		shadow_copy(child->shadows.current, parent->shadows.current);
	if (child->space == parent->space)
		return;
	now = simulation_now(s, child);
	truth_add_image(s->truth, &now, child->space->image, "fork", child->comm);
	space_update(child->space, child->tid, on_inherited_mapping, &ctx);
}

static void on_clone(struct simulation *s, struct task *parent)
{
	uint64_t flags = clone_flags(parent);
	struct task *child;
	struct space *space;
	unsigned long tid;
	struct event_origin now;
	pid_t pid;
	int status;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
	if (waitpid(tid, &status, __WALL) != (pid_t)tid || !WIFSTOPPED(status))
		return;
	task_fetch_regs(parent);
	pid = flags & CLONE_THREAD ? parent->pid : (pid_t)tid;
	now = simulation_now(s, parent);
	recording_add_fork(s->recording, &now, pid, tid);
	space = child_space(s, parent, tid, flags);
	child = space ? simulation_add_task(s, pid, tid,
					    flags & CLONE_THREAD ? parent->ppid : parent->pid,
					    space) :
			NULL;
	if (!child) {
		kill(tid, SIGKILL);
		return;
	}
	child_begin(s, child, parent);
	task_begin_run(child, true);
}

static enum stop on_exec(struct simulation *s, struct task *task)
{
	struct space *space;
	struct event_origin now;

	task->syscall.insn = NULL;
	task->state = TASK_RUNNABLE;
	task_fetch_regs(task);
	task_read_comm(task);
	task_advance(s, task, 1);
	shadow_set_clear(&task->shadows);
	if (s->options->wipe_exec)
		lbr_reset(&task->lbr);
	if (space_new(&space, task->tid, s->n_images, s->options->n_stack > 0) < 0) {
		kill(task->tid, SIGKILL);
		return STOP_BLOCKED;
	}
	s->n_images++;
	space_unref(task->space);
	task->space = space;
	now = simulation_now(s, task);
	recording_add_comm(s->recording, &now, task->comm, true);
	truth_add_image(s->truth, &now, space->image, "exec", task->comm);
	task_update_space(s, task);
	task_begin_run(task, true);
	return STOP_AGAIN;
}

/* Waiting. */

static int task_ptrace(struct task *task, int request, int sig)
{
	if (task->regs_dirty && ptrace(PTRACE_SETREGS, task->tid, NULL, &task->regs) < 0)
		return -errno;
	task->regs_dirty = false;
	task->resumed_with = request;
	return ptrace(request, task->tid, NULL, sig) < 0 ? -errno : 0;
}

/* STOP_BLOCKED here: it was let go again, wait on. */
static enum stop on_event(struct simulation *s, struct task *task, int event)
{
	switch (event) {
	case PTRACE_EVENT_EXIT:
		return on_exiting(s, task);
	case PTRACE_EVENT_EXEC:
		return on_exec(s, task);
	case PTRACE_EVENT_VFORK:
		task->syscall.may_block = true;
		on_clone(s, task);
		break;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
		on_clone(s, task);
		break;
	default:
		break;
	}
	task_ptrace(task, task->resumed_with, 0);
	return STOP_BLOCKED;
}

static enum stop on_status(struct simulation *s, struct task *task, int status)
{
	int sig;

	if (!WIFSTOPPED(status))
		return on_reaped(s, task);
	if (status >> 16)
		return on_event(s, task, status >> 16);
	sig = WSTOPSIG(status);
	task_fetch_regs(task);
	if (sig == SIGTRAP)
		return STOP_STEP;
	task->pending_signal = sig;
	return STOP_SIGNAL;
}

static bool task_may_block(const struct simulation *s, const struct task *task)
{
	return s->n_tasks > 1 && task->syscall.insn && task->syscall.may_block;
}

static enum stop task_wait(struct simulation *s, struct task *task)
{
	enum stop stop = STOP_BLOCKED;
	bool may_block;
	int status, n_polls = 0;
	pid_t r;

	while (stop == STOP_BLOCKED) {
		may_block = task_may_block(s, task);
		r = waitpid(task->tid, &status, __WALL | (may_block ? WNOHANG : 0));
		if (r == task->tid) {
			stop = on_status(s, task, status);
			continue;
		}
		if (r < 0 && errno != EINTR)
			return on_reaped(s, task);
		if (may_block && ++n_polls > POLLS_MAX)
			return STOP_BLOCKED;
		sched_yield();
	}
	return stop;
}

enum stop task_resume(struct simulation *s, struct task *task, int request, int sig)
{
	/* it was killed while it was stopped: what waitpid() says comes next */
	if (task_ptrace(task, request, sig) < 0) {
		task->state = TASK_BLOCKED;
		return STOP_BLOCKED;
	}
	return task_wait(s, task);
}

void task_poll(struct simulation *s, struct task *task)
{
	enum stop stop;
	int status;
	pid_t r;

	r = waitpid(task->tid, &status, __WALL | WNOHANG);
	if (r < 0 && errno == ECHILD) {
		on_reaped(s, task);
		return;
	}
	if (r != task->tid)
		return;
	stop = on_status(s, task, status);
	if (stop == STOP_GONE)
		return;
	if (task->syscall.insn)
		syscall_continue(s, task, stop);
	else if (stop != STOP_BLOCKED)
		task->state = TASK_RUNNABLE;
}

/* The first task. */

static void child_main(const struct simulation *s, int fd)
{
	char byte;

	if (!s->options->aslr)
		personality(ADDR_NO_RANDOMIZE);
	if (read(fd, &byte, 1) < 0)
		_exit(126);
	execvp(s->options->argv[0], s->options->argv);
	fprintf(stderr, "branch-simulator: %s: %m\n", s->options->argv[0]);
	_exit(127);
}

/* Simulator and program take turns, so one CPU serves both best: it halves the time of a stop. */
static void pin_to_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu, n, skip;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		return;
	n = CPU_COUNT(&all);
	skip = getpid() % n;
	for (cpu = 0; !CPU_ISSET(cpu, &all) || skip-- > 0; cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Runs until the first exec; -ENOEXEC if there was none. */
static int first_task_begin(struct simulation *s, pid_t pid)
{
	struct space *space;
	struct task *task;
	int r, status;

	r = space_new(&space, pid, 0, s->options->n_stack > 0);
	if (r < 0)
		return r;
	task = simulation_add_task(s, pid, pid, getpid(), space);
	if (!task)
		return -ENOMEM;
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
	    status >> 16 != PTRACE_EVENT_EXEC)
		return -ENOEXEC;
	on_exec(s, task);
	return 0;
}

int simulation_start(struct simulation *s)
{
	int fds[2], r = 0;
	pid_t pid;

	pin_to_one_cpu();
	if (pipe(fds) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(fds[1]);
		child_main(s, fds[0]);
	}
	close(fds[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, TRACE_OPTIONS) < 0) {
		r = -errno;
		kill(pid, SIGKILL);
	}
	close(fds[1]);
	return r < 0 ? r : first_task_begin(s, pid);
}
