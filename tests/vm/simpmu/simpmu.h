/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the simulated PMU say to each other. */
#pragma once

#include <linux/perf_event.h>

#include "lbr.h"

/* main.c: the parameters, in /sys/module/simpmu/parameters; README.md says what they mean. */
extern unsigned int simpmu_depth;
extern bool simpmu_call_stack;
extern bool simpmu_tos;
extern int simpmu_refuse;
extern int simpmu_common_us;

/* A sample's branch rows. */
struct branch_rows {
	struct perf_branch_stack stack; /* ends in entries[] */
	struct perf_branch_entry entries[LBR_MAX_DEPTH];
};

/* pmu.c: the PMU, and which of its events are counting on this CPU. */
int pmu_register(void);
void pmu_unregister(void);
/* Calls @each for them; interrupts are off. */
void pmu_for_each_running(void (*each)(struct perf_event *event, void *userdata), void *userdata);

/*
 * overflow.c: overflows in an NMI that this CPU sends itself, with interrupts off; returns when it
 * is over. @event overflows, or all that are running if it is NULL. @regs are what was interrupted,
 * @rows what the sample's branch rows are; NULL: what is in the registers. Returns how many events
 * overflowed.
 */
int overflow_init(void);
void overflow_done(void);
int overflow_now(struct perf_event *event, struct pt_regs *regs, struct branch_rows *rows);

/* registers.c: the branch record registers of this CPU; but for init and done, interrupts are off.
 */
int registers_init(void);
void registers_done(void);
/* What is recorded from now on, as branch_sample_type; 0: nothing. */
void registers_filter(u64 branch_sample_type);
void registers_wipe(void);
/* Reads them as a sample of @branch_sample_type has them, @regs having been interrupted. */
void registers_read(struct branch_rows *ret, u64 branch_sample_type, struct pt_regs *regs);

/* device.c: /dev/simpmu. */
int simpmu_device_register(void);
void simpmu_device_unregister(void);
