/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/process-table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

/* A process that has exited is kept for a while, as its last samples may come after its exit. */
#define MAX_EXITED 1024

static void revive(struct process_table *t, struct process *process)
{
	if (!process->exited)
		return;
	process->exited = false;
	DL_DELETE(t->exited, process);
	t->n_exited--;
}

/*
 * The slot of the process of @pid, if it was looked up lately: most samples are of a few processes.
 */
static struct process **recent_slot(struct process_table *t, int32_t pid)
{
	return &t->recent[(uint32_t)pid % PROCESS_TABLE_RECENT];
}

static void remove_process(struct process_table *t, struct process *process)
{
	struct process **recent = recent_slot(t, process->pid);

	if (*recent == process)
		*recent = NULL;
	revive(t, process);
	HASH_DEL(t->by_pid, process);
	process_context_unref(process->process_context);
	free(process);
}

static void remove_thread(struct process_table *t, struct thread *thread)
{
	HASH_DEL(t->by_tid, thread);
	free(thread->comm);
	free(thread);
}

struct process *process_table_find(struct process_table *t, int32_t pid)
{
	struct process **recent = recent_slot(t, pid), *process = *recent;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, t->by_pid, &pid, sizeof(pid), process);
	if (process)
		*recent = process;
	return process;
}

struct process *process_table_add(struct process_table *t, int32_t pid)
{
	struct process_context nobody = { .pid = pid, .uid = UINT32_MAX, .restricted = true };
	struct process *process;
	char comm[16];

	snprintf(comm, sizeof(comm), pid == 0 ? "swapper" : ":%d", pid);
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->process_context = process_context_new(&nobody, comm, NULL);
	if (!process->process_context) {
		free(process);
		return NULL;
	}
	HASH_ADD(hh, t->by_pid, pid, sizeof(pid), process);
	if (!process->hh.tbl) {
		process_context_unref(process->process_context);
		free(process);
		return NULL;
	}
	return process;
}

struct process *process_table_get(struct process_table *t, int32_t pid)
{
	struct process *process = process_table_find(t, pid);

	return process ? process : process_table_add(t, pid);
}

struct thread *process_table_find_thread(struct process_table *t, int32_t tid)
{
	struct thread *thread;

	HASH_FIND(hh, t->by_tid, &tid, sizeof(tid), thread);
	return thread;
}

void process_table_mark_exited(struct process_table *t, struct process *process)
{
	if (process->exited)
		return;
	process->exited = true;
	DL_APPEND(t->exited, process);
	t->n_exited++;
	if (t->n_exited > MAX_EXITED)
		remove_process(t, t->exited);
}

void process_table_exit_thread(struct process_table *t, struct thread *thread)
{
	struct process *process = process_table_find(t, thread->pid);

	remove_thread(t, thread);
	if (!process)
		return;
	if (process->n_threads > 0)
		process->n_threads--;
	if (process->n_threads == 0)
		process_table_mark_exited(t, process);
}

struct thread *process_table_get_thread(struct process_table *t, struct process *process,
					int32_t tid)
{
	struct thread *thread = process_table_find_thread(t, tid);

	revive(t, process);
	process->scan = t->scan;
	if (thread && thread->pid == process->pid)
		return thread;
	if (thread) /* its exit was not reported */
		process_table_exit_thread(t, thread);
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->pid = process->pid;
	HASH_ADD(hh, t->by_tid, tid, sizeof(tid), thread);
	if (!thread->hh.tbl) {
		free(thread);
		return NULL;
	}
	process->n_threads++;
	return thread;
}

int process_table_set_comm(struct thread *thread, const char *comm)
{
	char *copy = comm ? strdup(comm) : NULL;

	if (comm && !copy)
		return -ENOMEM;
	free(thread->comm);
	thread->comm = copy;
	return 0;
}

void process_table_forget_threads(struct process_table *t, struct process *process, int32_t but_tid)
{
	struct thread *thread, *next;

	HASH_ITER(hh, t->by_tid, thread, next)
		if (thread->pid == process->pid && thread->tid != but_tid)
			remove_thread(t, thread);
	process->n_threads = but_tid ? 1 : 0;
}

void process_table_replace(struct process_table *t, struct process *process)
{
	if (process->n_threads > 0)
		process_table_forget_threads(t, process, 0);
	remove_process(t, process);
}

/* Only pid 0 is never found in /proc. */
static bool is_unseen(const struct process_table *t, const struct process *process)
{
	return process->scan != t->scan && process->pid != 0;
}

/* Threads first: the exit of the last one marks its process. */
void process_table_mark_unseen(struct process_table *t)
{
	struct process *process, *next;
	struct thread *thread, *next_thread;

	HASH_ITER(hh, t->by_tid, thread, next_thread) {
		process = process_table_find(t, thread->pid);
		if (process && is_unseen(t, process))
			process_table_exit_thread(t, thread);
	}
	HASH_ITER(hh, t->by_pid, process, next)
		if (is_unseen(t, process))
			process_table_mark_exited(t, process);
}

void process_table_done(struct process_table *table)
{
	struct process *process, *next;
	struct thread *thread, *next_thread;

	HASH_ITER(hh, table->by_tid, thread, next_thread)
		remove_thread(table, thread);
	HASH_ITER(hh, table->by_pid, process, next)
		remove_process(table, process);
}
