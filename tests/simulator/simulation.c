/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * simulation: the tasks of the simulated program, one of which runs at a time, the synthetic clock,
 * and the samples.
 *
 * Tasks that can run take turns of a quantum of instructions, in the order of their creation, so
 * that a program whose tasks do not race for the kernel's answers gives the same recording every
 * time. Time stands still between instructions.
 */
#include "tests/simulator/simulation.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulator/options.h"
#include "tests/simulator/space.h"
#include "tests/simulator/truth.h"
#include "tests/simulator/user-state.h"

#define TIME_START  1000000000000ULL
#define CALLERS_MAX 256
#define IDLE_US     50

/* splitmix64 */
static uint64_t simulation_random(struct simulation *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

struct event_origin simulation_now(struct simulation *s, const struct task *task)
{
	return (struct event_origin){
		.pid = task->pid, .tid = task->tid, .cpu = task->cpu, .time = ++s->time
	};
}

/* Tasks. */

/* The period varies by an eighth to either side, so that it does not run in step with a loop; the
 * sample says how long it was. */
static void task_begin_period(struct simulation *s, struct task *task)
{
	uint64_t period = s->options->period, jitter = period / 8;

	task->period = period - jitter + simulation_random(s) % (2 * jitter + 1);
	task->until_sample = task->period;
}

struct task *simulation_add_task(struct simulation *s, pid_t pid, pid_t tid, pid_t ppid,
				 struct space *space)
{
	struct task **grown, *task;

	task = calloc(1, sizeof(*task));
	grown = reallocarray(s->tasks, s->n_tasks + 1, sizeof(*grown));
	if (grown)
		s->tasks = grown;
	if (!task || !grown || shadow_set_init(&task->shadows) < 0) {
		free(task);
		return NULL;
	}
	task->pid = pid;
	task->tid = tid;
	task->ppid = ppid;
	task->space = space;
	task->cpu = s->n_created++ % s->options->n_cpus;
	lbr_init(&task->lbr, s->options->n_rows, s->options->is_stack);
	task_begin_period(s, task);
	task->until_sample += s->n_created == 1 ? s->options->delay : 0;
	s->tasks[s->n_tasks++] = task;
	return task;
}

void simulation_remove_task(struct simulation *s, struct task *task)
{
	size_t i;

	for (i = 0; i < s->n_tasks && s->tasks[i] != task; i++)
		;
	s->n_tasks--;
	memmove(s->tasks + i, s->tasks + i + 1, (s->n_tasks - i) * sizeof(*s->tasks));
	if (s->current > i)
		s->current--;
	if (s->last == task)
		s->last = NULL;
	space_unref(task->space);
	shadow_set_done(&task->shadows);
	free(task);
}

/* Samples. */

static size_t task_callers(const struct task *task, uint64_t *callers)
{
	const struct shadow *s;
	size_t i, n = 0;

	for (s = task->shadows.current; s; s = s->interrupted)
		for (i = s->n_entries; i > 0 && n < CALLERS_MAX; i--)
			callers[n++] = s->entries[i - 1].return_addr;
	return n;
}

static void simulation_stop(struct simulation *s)
{
	size_t i;

	for (i = 0; i < s->n_tasks; i++)
		kill(s->tasks[i]->pid, SIGKILL);
}

static void task_sample(struct simulation *s, struct task *task)
{
	uint64_t callers[CALLERS_MAX], registers[USER_STATE_REGISTERS], hw_idx;
	static char stack[USER_STATE_STACK_MAX];
	struct lbr_record rows[LBR_RECORDS_MAX];
	struct recorded_sample sample = {
		.ip = task->regs.rip,
		.period = task->period,
		.rows = rows,
		.tos = task->lbr.tos,
		.callers = callers,
		.registers = registers,
		.stack = stack,
	};
	struct event_origin now = simulation_now(s, task);
	struct shadow *shadow = task_trim_stack(task, task->regs.rsp);

	task_refresh_interrupted(task);
	sample.n_rows = s->options->no_rows ? 0 : lbr_read(&task->lbr, rows);
	user_state_registers(&task->regs, registers);
	if (s->options->n_stack > 0) {
		sample.n_stack =
			user_state_stack(task->tid, task->regs.rsp, s->options->n_stack, stack);
		sample.n_held = shadow_count_held(shadow, task->regs.rsp, stack, sample.n_stack,
						  &sample.is_jumping);
		sample.is_jumping |= task->is_jumping;
	}
	for (size_t i = 0; i < sample.n_rows; i++)
		shadow_show(shadow, rows[i].serial);
	sample.n_callers = task_callers(task, callers);
	hw_idx = recording_add_sample(s->recording, &now, &sample);
	truth_add_sample(s->truth, &now, task->space->image, &sample, hw_idx, shadow);
	task_begin_period(s, task);
	if (++s->n_samples == s->options->max_samples)
		simulation_stop(s);
}

/* Scheduling. */

static bool simulation_is_over(const struct simulation *s)
{
	return s->options->max_samples && s->n_samples >= s->options->max_samples;
}

/* With --wipe another program has run on the CPU since this task did. */
static void task_switch_in(struct simulation *s, struct task *task)
{
	if (s->options->wipe)
		lbr_reset(&task->lbr);
	s->last = task;
}

/* At the beginning of a straight run only, so that it does not depend on how instructions are
 * executed. */
static bool quantum_is_over(const struct task *task, uint64_t end)
{
	return task->n_insns >= end && task->run_insns == 0;
}

static void task_run(struct simulation *s, struct task *task)
{
	uint64_t end = task->n_insns + s->options->quantum;
	enum stop stop;

	task_switch_in(s, task);
	while (!quantum_is_over(task, end) && !simulation_is_over(s)) {
		stop = task_execute(s, task);
		if (stop == STOP_BLOCKED || stop == STOP_GONE)
			return;
		if (task->until_sample == 0)
			task_sample(s, task);
	}
}

/* Those that are stopped are looked at only once the run is over and they were killed. */
static void simulation_poll(struct simulation *s)
{
	size_t i;

	for (i = s->n_tasks; i > 0; i--)
		if (s->tasks[i - 1]->state != TASK_RUNNABLE || simulation_is_over(s))
			task_poll(s, s->tasks[i - 1]);
}

static struct task *simulation_next(struct simulation *s)
{
	struct task *task;
	size_t i;

	for (i = 0; i < s->n_tasks; i++) {
		task = s->tasks[s->current++ % s->n_tasks];
		s->current %= s->n_tasks;
		if (task->state == TASK_RUNNABLE)
			return task;
	}
	return NULL;
}

static void simulation_loop(struct simulation *s)
{
	struct task *task;

	while (s->n_tasks > 0) {
		simulation_poll(s);
		if (s->n_tasks == 0)
			break;
		task = simulation_is_over(s) ? NULL : simulation_next(s);
		if (task)
			task_run(s, task);
		else
			usleep(IDLE_US);
	}
}

static int simulation_finish(struct simulation *s)
{
	int r, first;

	first = recording_finish(s->recording);
	r = truth_finish(s->truth);
	if (first == 0)
		first = r;
	if (s->n_divergences > 0 && first == 0)
		first = -EILSEQ;
	return first;
}

int simulation_run(const struct options *options)
{
	struct simulation s = {
		.options = options, .time = TIME_START, .random = options->seed, .n_images = 1
	};
	int r;

	r = recording_new(&s.recording, options);
	if (r < 0)
		return r;
	r = truth_new(&s.truth, options);
	if (r >= 0)
		r = simulation_start(&s);
	if (r >= 0)
		simulation_loop(&s);
	if (r >= 0)
		r = simulation_finish(&s);
	while (s.n_tasks > 0)
		simulation_remove_task(&s, s.tasks[0]);
	free(s.tasks);
	truth_free(s.truth);
	recording_free(s.recording);
	return r;
}
