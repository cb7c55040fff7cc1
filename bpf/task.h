/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is read of a task, and whether its user may look into it. Included by the BPF programs
 * alone.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/sample.h"

/* The fields of kernel structs that are read here. */
struct thread_struct {
	unsigned long fsbase; /* x86 */
	struct {
		unsigned long tp_value;
	} uw; /* arm64 */
} __attribute__((preserve_access_index));

struct mm_struct {
	unsigned long flags, start_stack;
} __attribute__((preserve_access_index));

struct sched_entity {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	struct sched_entity se;
	unsigned long nivcsw;
	struct mm_struct *mm;
	const struct cred *real_cred;
	void *stack;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

struct cred {
	struct {
		__u32 val;
	} uid, suid, euid, gid, sgid, egid;
} __attribute__((preserve_access_index));

typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct___since_6_18 {
	mm_flags_t flags;
} __attribute__((preserve_access_index));

#define PF_KTHREAD       0x00200000 /* in the flags of a task */
#define DUMPABLE_MASK    3          /* in the flags of an mm */
#define DUMPABLE_BY_USER 1

/* As far as it is looked for in the kernel's BTF. */
enum bpf_func_id___task {
	BPF_FUNC_get_current_task_btf___task = 158,
};

/* Whether the kernel knows what the current task's pointers point to, as since 5.11: then they are
 * followed by plain loads, else by a call of a helper each. */
static __always_inline _Bool knows_task(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id___task,
					  BPF_FUNC_get_current_task_btf___task);
}

static __always_inline struct task_struct *current_task(void)
{
	return knows_task() ? (void *)bpf_get_current_task_btf() : (void *)bpf_get_current_task();
}

/* BPF_CORE_READ() of what current_task() returned, or of a pointer read from it so. */
#define TASK_READ(from, ...) \
	(knows_task() ? ___arrow(from, __VA_ARGS__) : BPF_CORE_READ(from, __VA_ARGS__))

static __always_inline unsigned long read_mm_flags(const struct mm_struct *mm)
{
	const struct mm_struct___since_6_18 *newer = (const void *)mm;

	if (bpf_core_field_exists(mm->flags))
		return TASK_READ(mm, flags);
	return TASK_READ(newer, flags.__mm_flags[0]);
}

/*
 * Whether the user of @task may look into it, as perf and ptrace have it: real, effective and saved
 * ids are the same, and the process is dumpable. A program that is setuid, setgid, of capabilities
 * or not readable is not.
 */
static __always_inline __u16 read_restriction(const struct task_struct *task,
					      const struct cred *cred)
{
	__u32 uid = TASK_READ(cred, euid.val), gid = TASK_READ(cred, egid.val);
	const struct mm_struct *mm;

	if (uid != TASK_READ(cred, uid.val) || uid != TASK_READ(cred, suid.val) ||
	    gid != TASK_READ(cred, gid.val) || gid != TASK_READ(cred, sgid.val))
		return BPF_SAMPLE_RESTRICTED;
	if (TASK_READ(task, flags) & PF_KTHREAD)
		return 0;
	mm = TASK_READ(task, mm);
	if (!mm)
		return BPF_SAMPLE_NO_MEMORY;
	return (read_mm_flags(mm) & DUMPABLE_MASK) == DUMPABLE_BY_USER ? 0 : BPF_SAMPLE_RESTRICTED;
}
