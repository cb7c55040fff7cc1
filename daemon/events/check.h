/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events branchd may have. */
#pragma once

#include <linux/perf_event.h>

#include "daemon/events/messages.h"

/*
 * 0 if branchd has a use for such an event of a whole CPU, else -EPERM: allowed are a PMU's cycles
 * and taken branches, the clock, the records of tasks and mappings, and the output of BPF programs.
 * Their samples hold a time, a CPU, branch records, and what the BPF program writes: of the
 * contents of memory the used part of the stack of user code alone, see bpf/user-stack.h.
 */
int check_event(const struct perf_event_attr *attr);

/* 0, or -EINVAL for lists that are too long, or an unknown kind of stacks. */
int check_program(const struct events_program *program);
