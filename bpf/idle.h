// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whether a CPU has been idle. Included by the BPF programs alone.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/task.h"

/* The fields of kernel structs that are read here. */
struct rq {
	struct task_struct *idle;
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq;
} __attribute__((preserve_access_index));

/*
 * How many times this CPU has gone idle and then run another task. The kernel counts it as context
 * switches of the CPU's idle task, to which the queue of any task of the CPU leads. 0 on a kernel
 * without scheduling of groups, where the queue does not say whose it is.
 *
 * @idle: the idle task as a number, kept from run to run as it stays the same; 0: not yet known.
 */
static __always_inline __u64 count_idling(__u64 *idle)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct cfs_rq *queue = 0;

	if (!bpf_core_field_exists(queue->rq))
		return 0;
	if (*idle == 0)
		*idle = (__u64)BPF_CORE_READ(task, se.cfs_rq, rq, idle);
	task = (const void *)*idle;
	return BPF_CORE_READ(task, nivcsw);
}
