/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/process/objects.h"
#include "common/process/process-table.h"
#include "common/util/cleanup.h"

/*
 * The kernel reports what is mapped and never what is unmapped, so address spaces only grow. The
 * more all of them take, the less one may have: two hundred mappings at least.
 */
static const struct {
	size_t total, each;
} memory_limits[] = {
	{ 32 << 20, 1 << 20 },
	{ 96 << 20, 256 << 10 },
	{ SIZE_MAX, 64 << 10 },
};

/* Finds what else the kernel has mapped. */
struct kernel_scan {
	void (*scan)(void *userdata); /* or NULL */
	void *userdata;
};

struct processes {
	struct process_table table;
	struct objects *objects;
	struct address_space *kernel;
	struct kernel_scan kernel_scan;
	bool limited;
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

struct processes *processes_free(struct processes *processes)
{
	if (!processes)
		return NULL;
	process_table_done(&processes->table);
	address_space_unref(processes->kernel);
	objects_free(processes->objects);
	free(processes);
	return NULL;
}

void processes_keep_generations(struct processes *processes)
{
	objects_keep_generations(processes->objects);
}

void processes_limit_memory(struct processes *processes)
{
	processes->limited = true;
}

static size_t limit_of_one(void)
{
	size_t total = address_space_total(), i = 0;

	while (total > memory_limits[i].total)
		i++;
	return memory_limits[i].each;
}

/* The process context of @process for a change: a new one like it. @comm NULL keeps the name. */
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

/* After an exec there is a single thread. If it was not the first one it has taken the number of
 * that, and no exit of its own is reported. */
static int apply_comm(struct processes *p, const struct event *e)
{
	struct process *process = process_table_get(&p->table, e->pid);
	struct thread *thread =
		process ? process_table_get_thread(&p->table, process, e->tid) : NULL;
	struct process_context *fresh;
	struct address_space *space;

	if (!thread)
		return -ENOMEM;
	if (e->tid != e->pid)
		return process_table_set_comm(thread, e->comm.comm);
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
		fresh->restricted = true;
		if (process->n_threads > 1)
			process_table_forget_threads(&p->table, process, e->tid);
	}
	return 0;
}

/* A new process: its parent's program and mappings, and the name of the thread that forked it. */
static int fork_process(struct processes *p, const struct event *e)
{
	struct process *old = process_table_find(&p->table, e->pid), *child, *parent;
	struct thread *thread;
	struct process_context *fresh;

	if (old)
		process_table_replace(&p->table, old);
	child = process_table_add(&p->table, e->pid);
	if (!child || !process_table_get_thread(&p->table, child, e->tid))
		return -ENOMEM;
	child->process_context->start_ns = e->time_ns;
	parent = process_table_find(&p->table, e->fork.parent_pid);
	if (!parent)
		return 0;
	thread = process_table_find_thread(&p->table, e->fork.parent_tid);
	fresh = process_context_new(parent->process_context, thread ? thread->comm : NULL,
				    e->fork.exec ? NULL : parent->process_context->space);
	if (!fresh)
		return -ENOMEM;
	if (e->fork.exec) {
		forget_executable(fresh);
		fresh->exec_seen = false; /* its mappings come in the order of their addresses */
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
	process = process_table_get(&p->table, e->pid);
	thread = process ? process_table_get_thread(&p->table, process, e->tid) : NULL;
	if (!thread)
		return -ENOMEM;
	parent = process_table_find_thread(&p->table, e->fork.parent_tid);
	return process_table_set_comm(thread, parent && parent != thread ? parent->comm : NULL);
}

static void apply_exit(struct processes *p, const struct event *e)
{
	struct thread *thread = process_table_find_thread(&p->table, e->tid);
	struct process *process;

	if (thread) {
		process_table_exit_thread(&p->table, thread);
		return;
	}
	process = process_table_find(&p->table, e->pid);
	if (process && process->n_threads == 0 && e->tid == e->pid)
		process_table_mark_exited(&p->table, process);
}

/* Whether somebody keeps addresses of it: then it may not change in place. */
static bool is_kept(const struct process_context *i)
{
	return i->n_refs > 1;
}

/* The space to change: a copy where others share it, or where addresses that were sampled would
 * change their meaning. */
static struct address_space *space_for_change(struct process *process,
					      const struct mapping *mapping)
{
	struct process_context *i = process->process_context;
	_cleanup_(address_space_unrefp) struct address_space *copy = NULL;

	if (is_kept(i) && address_space_overlaps(i->space, mapping)) {
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

#define COMM_BYTES 15 /* the kernel names a process after this much of the name of its file */

static bool is_named_after(const char *comm, const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(comm, slash ? slash + 1 : path, COMM_BYTES) == 0;
}

/*
 * After an exec the first mapping is the program. Where the exec was not seen, the name must match.
 */
static bool becomes_executable(const struct process_context *i, const struct mapping *mapping)
{
	const struct profile_object *what = &mapping->object->what;

	if (what->kind != OBJECT_FILE)
		return false;
	return i->exec_seen ? !i->executable : is_named_after(i->comm, what->path);
}

static int map_user(struct processes *p, const struct event *e, const struct mapping *mapping)
{
	struct process *process = process_table_get(&p->table, e->pid);
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
	if (address_space_map(space, mapping) < 0)
		return -ENOMEM;
	if (p->limited)
		address_space_trim(space, limit_of_one(), mapping->start);
	return 0;
}

/* Whose mapping it is; the process may be new. */
static struct mapping_owner owner_of(struct processes *p, const struct event *e)
{
	const struct process *process = process_table_find(&p->table, e->pid);

	return (struct mapping_owner){
		.pid = e->pid,
		.start_ns = process ? process->process_context->start_ns : 0,
	};
}

static int apply_mapping(struct processes *p, const struct event *e)
{
	const struct mapping_event *m = &e->mapping;
	_cleanup_(object_unrefp) struct object *object = NULL;
	struct mapping mapping = { .start = m->address, .end = m->address + m->n_bytes };
	const struct mapping_owner owner = owner_of(p, e);

	if (strncmp(m->path, "[guest.", 7) == 0)
		return 0;
	if (mapping.end < mapping.start)
		mapping.end = UINT64_MAX;
	object = objects_of_mapping(p->objects, m, &owner, &mapping.shift);
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
		processes->table.scan++;
		return 0;
	case EVENT_SCAN_ENDS:
		process_table_mark_unseen(&processes->table);
		return 0;
	default:
		return 0;
	}
}

struct process_context *processes_find(struct processes *processes, int32_t pid)
{
	struct process *process = process_table_get(&processes->table, pid);

	return process ? process->process_context : NULL;
}

const struct process_context *processes_get(struct processes *processes, int32_t pid)
{
	const struct process *process = process_table_find(&processes->table, pid);

	return process ? process->process_context : NULL;
}

bool processes_has_exited(const struct processes *processes,
			  const struct process_context *process_context)
{
	const struct process *process;

	HASH_FIND(hh, processes->table.by_pid, &process_context->pid, sizeof(process_context->pid),
		  process);
	return !process || process->exited ||
	       process->process_context->start_ns != process_context->start_ns;
}

int processes_identify(struct processes *processes, struct process_context **ret,
		       const struct process_owner *owner)
{
	struct process_context *i = *ret;
	const char *copy;

	if (!process_context_copy_string(&copy, owner->unit))
		return -ENOMEM;
	if (is_kept(i))
		i = renew(process_table_find(&processes->table, i->pid), NULL, i->space);
	if (!i) {
		free((char *)copy);
		return -ENOMEM;
	}
	free((char *)i->unit);
	i->unit = copy;
	i->uid = owner->uid;
	i->restricted = owner->restricted;
	i->cgroup = owner->cgroup;
	*ret = i;
	return 0;
}

const char *processes_thread_comm(struct processes *processes, int32_t pid, int32_t tid)
{
	struct thread *thread = process_table_find_thread(&processes->table, tid);
	struct process *process = process_table_find(&processes->table, pid);

	if (thread && thread->pid == pid && thread->comm)
		return thread->comm;
	return process ? process->process_context->comm : NULL;
}

void processes_scan_kernel(struct processes *processes, void (*scan)(void *userdata),
			   void *userdata)
{
	processes->kernel_scan = (struct kernel_scan){ scan, userdata };
}

/* Code of a kernel of 64 bits is in its highest part; other addresses in its half are a user's
 * data, which was taken for a stack. */
static bool may_be_code(uint64_t address)
{
	return address >> 48 == 0xffff;
}

static const struct mapping *locate_in_kernel(const struct processes *p, uint64_t address)
{
	const struct mapping *found = address_space_find(p->kernel, address);

	if (_likely_(found || !p->kernel_scan.scan) || !may_be_code(address))
		return found;
	p->kernel_scan.scan(p->kernel_scan.userdata);
	return address_space_find(p->kernel, address);
}

const struct mapping *processes_locate(const struct processes *processes,
				       const struct process_context *process_context,
				       uint64_t address)
{
	if (address_is_kernel(address))
		return locate_in_kernel(processes, address);
	return address_space_find(process_context->space, address);
}
