// SPDX-License-Identifier: GPL-2.0-only
/*
 * An overflow, as the driver of a real PMU has it: in an NMI, with the branch rows put where the
 * kernel's version wants them, through perf_event_overflow(), which is what runs BPF programs and
 * throttles. It is not exported; a kprobe that is set and taken away again tells where it is.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/version.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "simpmu.h"

static int (*event_overflow)(struct perf_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs);

struct overflow {
	struct perf_event *event;
	struct pt_regs *regs;
	struct branch_rows *rows;
	int n_overflows;
};

static DEFINE_PER_CPU(struct overflow *, due);
static DEFINE_PER_CPU(struct branch_rows, registers);

static void save_rows(struct perf_sample_data *data, struct perf_event *event,
		      struct branch_rows *rows)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	data->br_stack = &rows->stack;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	perf_sample_save_brstack(data, event, &rows->stack);
#else
	perf_sample_save_brstack(data, event, &rows->stack, NULL);
#endif
}

static void overflow_one(struct perf_event *event, void *userdata)
{
	struct branch_rows *rows = this_cpu_ptr(&registers);
	struct overflow *o = userdata;
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, event->hw.sample_period);
	event->hw.last_period = event->hw.sample_period;
	if (has_branch_stack(event)) {
		if (o->rows)
			rows = o->rows;
		else
			registers_read(rows, event->attr.branch_sample_type, o->regs);
		save_rows(&data, event, rows);
	}
	o->n_overflows++;
	if (event_overflow(event, &data, o->regs)) /* throttled */
		event->hw.state |= PERF_HES_STOPPED;
}

static int on_nmi(unsigned int unused, struct pt_regs *unused_regs)
{
	struct overflow *o = __this_cpu_read(due);

	if (!o)
		return NMI_DONE;
	if (o->event)
		overflow_one(o->event, o);
	else
		pmu_for_each_running(overflow_one, o);
	__this_cpu_write(due, NULL);
	return NMI_HANDLED;
}

int overflow_now(struct perf_event *event, struct pt_regs *regs, struct branch_rows *rows)
{
	struct overflow o = { .event = event, .regs = regs, .rows = rows };

	__this_cpu_write(due, &o);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	while (READ_ONCE(*this_cpu_ptr(&due)))
		cpu_relax();
	return o.n_overflows;
}

int overflow_init(void)
{
	struct kprobe probe = { .symbol_name = "perf_event_overflow" };
	int r = register_kprobe(&probe);

	if (r < 0)
		return r;
	event_overflow = (void *)probe.addr;
	unregister_kprobe(&probe);
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "simpmu");
}

void overflow_done(void)
{
	unregister_nmi_handler(NMI_LOCAL, "simpmu");
}
