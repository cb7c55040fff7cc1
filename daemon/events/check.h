/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events branchd may have. */
#pragma once

#include <stdbool.h>

#include <linux/perf_event.h>

#include "daemon/events/messages.h"

/*
 * 0 if branchd has a use for such an event of a whole CPU, else -EPERM: allowed are what the PMUs
 * of CPUs count, what the kernel counts of the running task (the clock, faults, switches), the
 * records of tasks and mappings, and the output of BPF programs. @is_core: whether the type of
 * @attr is that of a PMU of CPUs, see cores.h; only these may have a configuration of their own.
 * Their samples hold a time, a CPU, branch records, and what the BPF program writes: of the
 * contents of memory the used part of the stack of user code alone, see bpf/user-stack.h.
 */
int check_event(const struct perf_event_attr *attr, bool is_core);

/* 0, or -EINVAL for lists that are too long, or an unknown kind of stacks. */
int check_program(const struct events_program *program);
