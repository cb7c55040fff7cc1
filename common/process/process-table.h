/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes and threads that run, or have exited lately, by number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/process/process-context.h"

#define PROCESS_TABLE_RECENT 256

struct thread {
	int32_t tid, pid;
	char *comm; /* NULL: that of its process */
	UT_hash_handle hh;
};

struct process {
	int32_t pid;
	unsigned int n_threads; /* reported, and not exited */
	unsigned int scan;      /* the last scan of /proc that found it */
	struct process_context *process_context;
	bool exited;
	UT_hash_handle hh;
	struct process *prev, *next; /* among the exited */
};

/* Zeroed it is empty. */
struct process_table {
	struct process *by_pid;
	struct thread *by_tid;
	struct process *exited; /* in the order of their exit */
	unsigned int n_exited;
	unsigned int scan; /* the number of scans of /proc so far */
	struct process *recent[PROCESS_TABLE_RECENT];
};

void process_table_done(struct process_table *table);

/* NULL where there is none. */
struct process *process_table_find(struct process_table *t, int32_t pid);
struct thread *process_table_find_thread(struct process_table *t, int32_t tid);

/* A process that no record has described yet: named after its pid, without mappings. NULL when
 * memory ran out. */
struct process *process_table_add(struct process_table *t, int32_t pid);

/* Found or added. NULL when memory ran out. */
struct process *process_table_get(struct process_table *t, int32_t pid);

/* Thread @tid of @process, found or added; the process runs, then. NULL when memory ran out. */
struct thread *process_table_get_thread(struct process_table *t, struct process *process,
					int32_t tid);

/* Sets the name of the thread alone; NULL: that of its process. 0 or -ENOMEM. */
int process_table_set_comm(struct thread *thread, const char *comm);

/* The thread has exited, and with the last one of a process the process. */
void process_table_exit_thread(struct process_table *t, struct thread *thread);

/* Keeps the process for a while, until too many others have exited. */
void process_table_mark_exited(struct process_table *t, struct process *process);

/* Removes the threads of @process, whose exit was not reported, except @but_tid (0: none). */
void process_table_forget_threads(struct process_table *t, struct process *process,
				  int32_t but_tid);

/* Removes the process that had the number before, and its threads. */
void process_table_replace(struct process_table *t, struct process *process);

/* Marks all processes exited that the current scan of /proc has not found. */
void process_table_mark_unseen(struct process_table *t);
