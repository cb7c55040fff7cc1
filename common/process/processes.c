/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "common/process/objects.h"
#include "common/util/cleanup.h"

/*
 * A process that has exited is kept a while: its last samples may come after its exit. So many of
 * them are.
 */
#define MAX_EXITED 1024
#define N_RECENT   256

struct thread {
	int32_t tid, pid;
	char *comm; /* NULL: its process's */
	UT_hash_handle hh;
};

struct process {
	int32_t pid;
	unsigned int n_threads; /* that were heard of and have not exited */
	unsigned int look;      /* the last in which it was seen to be there */
	struct process_context *process_context;
	bool exited;
	UT_hash_handle hh;
	struct process *prev, *next; /* among the exited */
};

struct processes {
	struct process *by_pid;
	struct thread *by_tid;
	struct process *exited; /* the one that exited first is the first */
	unsigned int n_exited;
	unsigned int look; /* at all that runs: how many there were */
	struct process *recent[N_RECENT];
	struct objects *objects;
	struct address_space *kernel;
};

int processes_new(struct processes **ret)
{
	_cleanup_(processes_freep) struct processes *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	r = objects_new(&p->objects);
	if (r < 0)
		return r;
	p->kernel = address_space_new();
	if (!p->kernel)
		return -ENOMEM;
	*ret = TAKE_PTR(p);
	return 0;
}

static void revive(struct processes *p, struct process *process)
{
	if (!process->exited)
		return;
	process->exited = false;
	DL_DELETE(p->exited, process);
	p->n_exited--;
}

/* Where the process of @pid is, if it was looked up lately: most samples are of few. */
static struct process **recent_slot(struct processes *p, int32_t pid)
{
	return &p->recent[(uint32_t)pid % N_RECENT];
}

static void remove_process(struct processes *p, struct process *process)
{
	struct process **recent = recent_slot(p, process->pid);

	if (*recent == process)
		*recent = NULL;
	revive(p, process);
	HASH_DEL(p->by_pid, process);
	process_context_unref(process->process_context);
	free(process);
}

static void remove_thread(struct processes *p, struct thread *thread)
{
	HASH_DEL(p->by_tid, thread);
	free(thread->comm);
	free(thread);
}

struct processes *processes_free(struct processes *processes)
{
	struct process *process, *next;
	struct thread *thread, *next_thread;

	if (!processes)
		return NULL;
	HASH_ITER(hh, processes->by_tid, thread, next_thread)
		remove_thread(processes, thread);
	HASH_ITER(hh, processes->by_pid, process, next)
		remove_process(processes, process);
	address_space_unref(processes->kernel);
	objects_free(processes->objects);
	free(processes);
	return NULL;
}

static struct process *find_process(struct processes *p, int32_t pid)
{
	struct process **recent = recent_slot(p, pid), *process = *recent;

	if (process && process->pid == pid)
		return process;
	HASH_FIND(hh, p->by_pid, &pid, sizeof(pid), process);
	if (process)
		*recent = process;
	return process;
}

/* A process nobody has told of: named after its pid, and nothing mapped. */
static struct process *add_process(struct processes *p, int32_t pid)
{
	struct process_context nobody = { .pid = pid, .uid = UINT32_MAX };
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
	HASH_ADD(hh, p->by_pid, pid, sizeof(pid), process);
	if (!process->hh.tbl) {
		process_context_unref(process->process_context);
		free(process);
		return NULL;
	}
	return process;
}

static struct process *get_process(struct processes *p, int32_t pid)
{
	struct process *process = find_process(p, pid);

	return process ? process : add_process(p, pid);
}

static struct thread *find_thread(struct processes *p, int32_t tid)
{
	struct thread *thread;

	HASH_FIND(hh, p->by_tid, &tid, sizeof(tid), thread);
	return thread;
}

static void bury(struct processes *p, struct process *process)
{
	if (process->exited)
		return;
	process->exited = true;
	DL_APPEND(p->exited, process);
	p->n_exited++;
	if (p->n_exited > MAX_EXITED)
		remove_process(p, p->exited);
}

static void leave_thread(struct processes *p, struct thread *thread)
{
	struct process *process = find_process(p, thread->pid);

	remove_thread(p, thread);
	if (!process)
		return;
	if (process->n_threads > 0)
		process->n_threads--;
	if (process->n_threads == 0)
		bury(p, process);
}

/* The thread @tid of @process, which is alive by that. */
static struct thread *get_thread(struct processes *p, struct process *process, int32_t tid)
{
	struct thread *thread = find_thread(p, tid);

	revive(p, process);
	process->look = p->look;
	if (thread && thread->pid == process->pid)
		return thread;
	if (thread) /* its exit was not heard of */
		leave_thread(p, thread);
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->pid = process->pid;
	HASH_ADD(hh, p->by_tid, tid, sizeof(tid), thread);
	if (!thread->hh.tbl) {
		free(thread);
		return NULL;
	}
	process->n_threads++;
	return thread;
}

static int set_thread_comm(struct thread *thread, const char *comm)
{
	char *copy = comm ? strdup(comm) : NULL;

	if (comm && !copy)
		return -ENOMEM;
	free(thread->comm);
	thread->comm = copy;
	return 0;
}

/*
 * The process_context of @process for a change: itself while nobody has kept addresses of it, else
 * a new one like it. @comm NULL keeps the name.
 */
static struct process_context *renew(struct process *process, const char *comm,
				     struct address_space *space)
{
	struct process_context *fresh = process_context_new(process->process_context, comm, space);

	if (!fresh)
		return NULL;
	process_context_unref(process->process_context);
	process->process_context = fresh;
	return fresh;
}

static void forget_executable(struct process_context *process_context)
{
	free((char *)process_context->executable);
	process_context->executable = NULL;
}

/* Those whose exit was not heard of. */
static void forget_threads(struct processes *p, struct process *process, int32_t but_tid)
{
	struct thread *thread, *next;

	HASH_ITER(hh, p->by_tid, thread, next)
		if (thread->pid == process->pid && thread->tid != but_tid)
			remove_thread(p, thread);
	process->n_threads = but_tid ? 1 : 0;
}

/* After an exec there is but one thread. One that was not the first has taken its number: no exit
 * is told of its own. */
static int apply_comm(struct processes *p, const struct event *e)
{
	struct process *process = get_process(p, e->pid);
	struct thread *thread = process ? get_thread(p, process, e->tid) : NULL;
	struct process_context *fresh;
	struct address_space *space;

	if (!thread)
		return -ENOMEM;
	if (e->tid != e->pid)
		return set_thread_comm(thread, e->comm.comm);
	if (!e->comm.exec && strcmp(process->process_context->comm, e->comm.comm) == 0)
		return 0;
	space = e->comm.exec ? NULL : process->process_context->space;
	fresh = renew(process, e->comm.comm, space);
	if (!fresh)
		return -ENOMEM;
	if (e->comm.exec) {
		forget_executable(fresh);
		fresh->exec_seen = true;
		fresh->cgroup = 0;
		if (process->n_threads > 1)
			forget_threads(p, process, e->tid);
	}
	return 0;
}

/* Does away with the one that had the number before, and with its threads if their exit was not
 * heard of. */
static void replace_process(struct processes *p, struct process *process)
{
	if (process->n_threads > 0)
		forget_threads(p, process, 0);
	remove_process(p, process);
}

/* Not in a look at all that runs, in which only pid 0 is never seen. */
static bool is_unseen(const struct processes *p, const struct process *process)
{
	return process->look != p->look && process->pid != 0;
}

/* They exited, unheard of; their threads first, as leave_thread() buries the process of the last.
 */
static void bury_unseen(struct processes *p)
{
	struct process *process, *next;
	struct thread *thread, *next_thread;

	HASH_ITER(hh, p->by_tid, thread, next_thread) {
		process = find_process(p, thread->pid);
		if (process && is_unseen(p, process))
			leave_thread(p, thread);
	}
	HASH_ITER(hh, p->by_pid, process, next)
		if (is_unseen(p, process))
			bury(p, process);
}

/* A new process: its parent's program and mappings, and the name of the thread that it was. */
static int fork_process(struct processes *p, const struct event *e)
{
	struct process *old = find_process(p, e->pid), *child, *parent;
	struct thread *thread;
	struct process_context *fresh;

	if (old)
		replace_process(p, old);
	child = add_process(p, e->pid);
	if (!child || !get_thread(p, child, e->tid))
		return -ENOMEM;
	child->process_context->start_ns = e->time_ns;
	parent = find_process(p, e->fork.parent_pid);
	if (!parent)
		return 0;
	thread = find_thread(p, e->fork.parent_tid);
	fresh = process_context_new(parent->process_context, thread ? thread->comm : NULL,
				    e->fork.exec ? NULL : parent->process_context->space);
	if (!fresh)
		return -ENOMEM;
	if (e->fork.exec) {
		forget_executable(fresh);
		fresh->exec_seen =
			false; /* its own: its mappings come in the order of their addresses */
	}
	fresh->pid = e->pid;
	fresh->start_ns = e->time_ns;
	process_context_unref(child->process_context);
	child->process_context = fresh;
	return 0;
}

static int apply_fork(struct processes *p, const struct event *e)
{
	struct thread *parent, *thread;
	struct process *process;

	if (e->pid != e->fork.parent_pid)
		return fork_process(p, e);
	process = get_process(p, e->pid);
	thread = process ? get_thread(p, process, e->tid) : NULL;
	if (!thread)
		return -ENOMEM;
	parent = find_thread(p, e->fork.parent_tid);
	return set_thread_comm(thread, parent && parent != thread ? parent->comm : NULL);
}

static void apply_exit(struct processes *p, const struct event *e)
{
	struct thread *thread = find_thread(p, e->tid);
	struct process *process;

	if (thread) {
		leave_thread(p, thread);
		return;
	}
	process = find_process(p, e->pid);
	if (process && process->n_threads == 0 && e->tid == e->pid)
		bury(p, process);
}

/* May the space be changed in place? Not if others share it, nor what was sampled. */
static struct address_space *space_for_change(struct process *process,
					      const struct mapping *mapping)
{
	struct process_context *i = process->process_context;
	_cleanup_(address_space_unrefp) struct address_space *copy = NULL;

	if (i->context != PROFILE_NONE && address_space_overlaps(i->space, mapping)) {
		copy = address_space_copy(i->space);
		i = copy ? renew(process, NULL, copy) : NULL;
		return i ? i->space : NULL;
	}
	if (i->space->n_refs > 1) {
		copy = address_space_copy(i->space);
		if (!copy)
			return NULL;
		address_space_unref(i->space);
		i->space = TAKE_PTR(copy);
	}
	return i->space;
}

#define COMM_BYTES 15 /* so much of a file's name the kernel makes the name of its process */

static bool is_named_after(const char *comm, const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(comm, slash ? slash + 1 : path, COMM_BYTES) == 0;
}

/* After an exec the program is what is mapped first. Where none was seen the name must tell. */
static bool becomes_executable(const struct process_context *i, const struct mapping *mapping)
{
	const struct profile_object *what = &mapping->object->what;

	if (what->kind != OBJECT_FILE)
		return false;
	return i->exec_seen ? !i->executable : is_named_after(i->comm, what->path);
}

static int map_user(struct processes *p, const struct event *e, const struct mapping *mapping)
{
	struct process *process = get_process(p, e->pid);
	struct address_space *space;
	bool executable;

	if (!process)
		return -ENOMEM;
	executable = e->mapping.executable && becomes_executable(process->process_context, mapping);
	space = space_for_change(process, mapping);
	if (!space)
		return -ENOMEM;
	if (!e->mapping.executable)
		return address_space_unmap(space, mapping->start, mapping->end);
	if (executable) {
		free((char *)process->process_context->executable);
		if (!process_context_copy_string(&process->process_context->executable,
						 mapping->object->what.path))
			return -ENOMEM;
	}
	return address_space_map(space, mapping);
}

static int apply_mapping(struct processes *p, const struct event *e)
{
	const struct mapping_event *m = &e->mapping;
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct mapping mapping = { .start = m->address, .end = m->address + m->n_bytes };

	if (strncmp(m->path, "[guest.", 7) == 0)
		return 0;
	if (mapping.end < mapping.start)
		mapping.end = UINT64_MAX;
	object = objects_of_mapping(p->objects, m, &mapping.shift);
	if (!object)
		return -ENOMEM;
	mapping.object = object;
	if (m->kernel)
		return address_space_map(p->kernel, &mapping);
	return map_user(p, e, &mapping);
}

static int apply_ksymbol(struct processes *p, const struct event *e)
{
	const struct ksymbol_event *k = &e->ksymbol;
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct mapping mapping = { .start = k->address, .end = k->address + k->n_bytes };

	if (k->unregister || mapping.end < mapping.start)
		return 0; /* what was sampled there keeps its name */
	object = objects_of_ksymbol(p->objects, k, &mapping.shift);
	if (!object)
		return -ENOMEM;
	mapping.object = object;
	return address_space_map(p->kernel, &mapping);
}

int processes_apply(struct processes *processes, const struct event *event)
{
	switch (event->kind) {
	case EVENT_MAPPING:
		return apply_mapping(processes, event);
	case EVENT_COMM:
		return apply_comm(processes, event);
	case EVENT_FORK:
		return apply_fork(processes, event);
	case EVENT_EXIT:
		apply_exit(processes, event);
		return 0;
	case EVENT_KSYMBOL:
		return apply_ksymbol(processes, event);
	case EVENT_BUILD_ID:
		return objects_learn_build_id(processes->objects, &event->build_id);
	case EVENT_SCAN_BEGINS:
		processes->look++;
		return 0;
	case EVENT_SCAN_ENDS:
		bury_unseen(processes);
		return 0;
	default:
		return 0;
	}
}

struct process_context *processes_find(struct processes *processes, int32_t pid)
{
	struct process *process = get_process(processes, pid);

	return process ? process->process_context : NULL;
}

int processes_identify(struct processes *processes, struct process_context **ret, uint32_t uid,
		       uint64_t cgroup, const char *unit)
{
	struct process_context *i = *ret;
	const char *copy;

	if (!process_context_copy_string(&copy, unit))
		return -ENOMEM;
	if (i->context != PROFILE_NONE)
		i = renew(find_process(processes, i->pid), NULL, i->space);
	if (!i) {
		free((char *)copy);
		return -ENOMEM;
	}
	free((char *)i->unit);
	i->unit = copy;
	i->uid = uid;
	i->cgroup = cgroup;
	*ret = i;
	return 0;
}

const char *processes_thread_comm(struct processes *processes, int32_t pid, int32_t tid)
{
	struct thread *thread = find_thread(processes, tid);
	struct process *process = find_process(processes, pid);

	if (thread && thread->pid == pid && thread->comm)
		return thread->comm;
	return process ? process->process_context->comm : NULL;
}

const struct mapping *processes_locate(const struct processes *processes,
				       const struct process_context *process_context,
				       uint64_t address)
{
	if (address_is_kernel(address))
		return address_space_find(processes->kernel, address);
	return address_space_find(process_context->space, address);
}
