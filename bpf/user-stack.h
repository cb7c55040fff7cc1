/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the user's stack is unwound from: the registers of user code, and where the stack ends.
 * Included by the BPF programs alone.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/sample.h"
#include "bpf/task.h"

/* The fields of kernel structs that are read here. */
struct perf_sample_data;

struct bpf_perf_event_data_kern {
	bpf_user_pt_regs_t *regs;
	struct perf_sample_data *data;
} __attribute__((preserve_access_index));

struct perf_buffer {
	struct perf_event_mmap_page *user_page;
} __attribute__((preserve_access_index));

struct perf_event {
	struct perf_buffer *rb;
} __attribute__((preserve_access_index));

struct bpf_event_entry {
	struct perf_event *event;
} __attribute__((preserve_access_index));

struct bpf_array {
	void *ptrs[1];
} __attribute__((preserve_access_index));

/* As far as it is looked for in the kernel's BTF. */
enum bpf_func_id___user_stack {
	BPF_FUNC_task_pt_regs___user_stack = 175,
};

#if defined(__TARGET_ARCH_x86)
#define THREAD_POINTER     thread.fsbase
#define KERNEL_STACK_BYTES 0x4000
#define USER_SP(registers) ((registers)->rsp)

static __always_inline void put_registers(__u64 *to, const bpf_user_pt_regs_t *from)
{
	to[0] = from->rax;
	to[1] = from->rbx;
	to[2] = from->rcx;
	to[3] = from->rdx;
	to[4] = from->rsi;
	to[5] = from->rdi;
	to[6] = from->rbp;
	to[7] = from->rsp;
	to[8] = from->rip;
	to[9] = from->r8;
	to[10] = from->r9;
	to[11] = from->r10;
	to[12] = from->r11;
	to[13] = from->r12;
	to[14] = from->r13;
	to[15] = from->r14;
	to[16] = from->r15;
}

#define CODE_OF_32_BIT 0x23 /* the selector that the kernel gives such programs */

static __always_inline _Bool is_32_bit(const bpf_user_pt_regs_t *registers)
{
	return (__u16)registers->cs == CODE_OF_32_BIT;
}
#elif defined(__TARGET_ARCH_arm64)
#define THREAD_POINTER     thread.uw.tp_value
#define KERNEL_STACK_BYTES 0x4000
#define USER_SP(registers) ((registers)->sp)

/* User space has the first part of it only. */
struct pt_regs {
	struct user_pt_regs user_regs;
} __attribute__((preserve_access_index));

static __always_inline void put_registers(__u64 *to, const bpf_user_pt_regs_t *from)
{
#pragma unroll
	for (int i = 0; i < 31; i++)
		to[i] = from->regs[i];
	to[31] = from->sp;
	to[32] = from->pc;
}

#define MODE_OF_32_BIT 0x10 /* in the processor's state */

static __always_inline _Bool is_32_bit(const bpf_user_pt_regs_t *registers)
{
	return registers->pstate & MODE_OF_32_BIT;
}
#endif

#if BPF_SAMPLE_N_REGISTERS
/* Where the registers lie with which @task entered the kernel. Kernels before 5.15 have no helper
 * that tells. */
static __always_inline const void *entry_registers(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id___user_stack,
				       BPF_FUNC_task_pt_regs___user_stack))
		return (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - bpf_core_type_size(struct pt_regs);
}

/* The registers of the sample, or those with which @task entered the kernel. */
static __always_inline long read_user_registers(void *ctx, struct task_struct *task,
						_Bool in_kernel, bpf_user_pt_regs_t *ret)
{
	const void *at = NULL;

	if (in_kernel)
		at = entry_registers(task);
	/* The type of the program's context is not the kernel's: so its bytes are read. */
	else if (bpf_probe_read_kernel(
			 &at, sizeof(at),
			 ctx + bpf_core_field_offset(struct bpf_perf_event_data_kern, regs)) < 0)
		return -1;
	return bpf_probe_read_kernel(ret, sizeof(*ret), at);
}

/*
 * How many bytes of a stack this CPU's ring, one of @rings, takes now. A quarter of it is for
 * samples without their stacks, and for records of tasks: a reader that comes late loses stacks,
 * not samples.
 */
static __always_inline __u64 ring_bytes(const void *rings)
{
	const struct bpf_array *array = NULL;
	const struct bpf_event_entry *entry;
	struct perf_event_mmap_page *page;
	__u64 head, tail, size, used;

	/* to the verifier it is a number then, from which it may be read */
	if (bpf_probe_read_kernel(&array, sizeof(array), &rings) < 0 ||
	    bpf_probe_read_kernel(&entry, sizeof(entry),
				  (const void *)array +
					  bpf_core_field_offset(struct bpf_array, ptrs) +
					  bpf_get_smp_processor_id() * sizeof(void *)) < 0)
		return 0;
	page = BPF_CORE_READ(entry, event, rb, user_page);
	head = BPF_PROBE_READ(page, data_head);
	tail = BPF_PROBE_READ(page, data_tail);
	size = BPF_PROBE_READ(page, data_size);
	used = head - tail + size / 4;
	return used < size ? (size - used) / 4 : 0;
}

/*
 * How many bytes from @sp on are in use, up to @most. The stack of a program's first thread ends
 * where the kernel has put the arguments; the C libraries put the data of another thread right
 * behind its stack, and the thread pointer there.
 */
static __always_inline __u64 stack_bytes(const struct task_struct *task, __u64 sp, __u64 most)
{
	__u64 first = TASK_READ(task, mm, start_stack) - sp;
	__u64 other = TASK_READ(task, THREAD_POINTER) - sp;
	__u64 n = first < other ? first : other;

	return n < most ? n : most;
}
#endif
