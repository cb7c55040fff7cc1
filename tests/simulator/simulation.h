/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simulation: the tasks of the simulated program, one of which runs at a time, and the synthetic
 * clock.
 *
 * Four files do the work: simulation.c schedules, samples and keeps the clock; execute.c runs
 * instructions of one task; syscalls.c takes a task through a system call; events.c follows what
 * the kernel does to tasks: fork, exec, exit, signals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tests/simulator/lbr.h"
#include "tests/simulator/predictor.h"
#include "tests/simulator/recording.h"
#include "tests/simulator/shadow-set.h"

struct insn;
struct options;
struct space;
struct truth;

enum task_state {
	TASK_RUNNABLE, /* stopped, in our hands */
	TASK_BLOCKED,  /* in a system call */
	TASK_EXITING,  /* past its last instruction, not yet reaped */
};

struct syscall_state {
	struct insn *insn; /* NULL outside of system calls */
	uint64_t number;
	uint64_t args[3];
	bool may_block;
};

struct task {
	pid_t pid;
	pid_t tid;
	pid_t ppid;
	uint32_t cpu;
	enum task_state state;
	char comm[16];
	struct space *space;

	struct user_regs_struct regs;
	bool regs_dirty;
	int pending_signal;
	int resumed_with; /* the last ptrace request */
	struct syscall_state syscall;

	struct lbr lbr;
	struct shadow_set shadows;
	bool is_jumping; /* its stack pointer has left calls, and control has not yet */
	struct predictor predictor;

	uint64_t run_start;     /* of the straight run that is being executed */
	uint64_t run_insns;     /* so far */
	bool run_broken;        /* it did not begin at the target of the newest taken branch */
	uint64_t logged_cycles; /* since the newest branch record was written */

	uint64_t period;
	uint64_t until_sample;
	uint64_t n_insns;
	uint64_t n_taken;
	uint64_t n_calls;
};

struct simulation {
	const struct options *options;
	struct recording *recording;
	struct truth *truth;
	struct task **tasks;
	size_t n_tasks;
	size_t current;
	struct task *last;
	uint64_t time;
	uint64_t n_images;
	uint64_t n_created;
	uint64_t n_samples;
	uint64_t n_divergences;
	uint64_t random;
};

/* What became of a resumed task. */
enum stop {
	STOP_STEP,    /* stopped by a single step or a breakpoint; the registers are fresh */
	STOP_SIGNAL,  /* a signal waits in task->pending_signal */
	STOP_AGAIN,   /* it is where its registers say, nothing is to be concluded from where it was
		       */
	STOP_BLOCKED, /* still in a system call */
	STOP_GONE,    /* it runs no instruction any more; the task may have been freed */
};

/* simulation.c. Negative errno; the program's own failure is none. */
int simulation_run(const struct options *options);
/* Strictly increasing. */
struct event_origin simulation_now(struct simulation *s, const struct task *task);
/* A task that has stopped for the first time; its space is taken. NULL if memory ran out. */
struct task *simulation_add_task(struct simulation *s, pid_t pid, pid_t tid, pid_t ppid,
				 struct space *space);
void simulation_remove_task(struct simulation *s, struct task *task);
struct task *simulation_find_task(struct simulation *s, pid_t tid);
void task_begin_run(struct task *task, bool broken);

/* execute.c */
/* Executes one straight run, or a part of it if a sample is due within. */
enum stop task_execute(struct simulation *s, struct task *task);
/* Makes the true call stack follow the stack pointer. */
struct shadow *task_trim_stack(struct task *task, uint64_t rsp);
/* n instructions were executed. */
void task_advance(struct simulation *s, struct task *task, uint64_t n);
void task_enter_handler(struct task *task, uint64_t interrupted);
void task_refresh_interrupted(struct task *task);

/* events.c */
/* Forks, seizes and executes the program; returns its first task, stopped before its first
 * instruction. */
int simulation_start(struct simulation *s);
/* Lets the task go on in the way of `request`, and waits for what comes of it unless it may block.
 */
enum stop task_resume(struct simulation *s, struct task *task, int request, int sig);
/* Looks, without waiting, whether a blocked or exiting task has come back. */
void task_poll(struct simulation *s, struct task *task);
int task_fetch_regs(struct task *task);
/* Reads the task's name anew. */
void task_read_comm(struct task *task);
/* Records mappings that are new. */
void task_update_space(struct simulation *s, struct task *task);

/* syscalls.c */
enum stop task_step_syscall(struct simulation *s, struct task *task, struct insn *insn, int sig);
/* What a stop means for a task that is in a system call. */
enum stop syscall_continue(struct simulation *s, struct task *task, enum stop stop);
