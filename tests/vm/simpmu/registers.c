// SPDX-License-Identifier: GPL-2.0-only
/*
 * The branch record registers, and what the kernel does with them: they are wiped at each task
 * switch, and a branch that is on its way when a signal comes arrives where the program was, not at
 * the handler.
 *
 * They are in memory that the emulator shares as an ivshmem device. Without one there are registers
 * of the module's own, which stay empty.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>

#include "simpmu.h"

static struct lbr *lbrs;
static struct pci_dev *device; /* NULL: lbrs are our own */

static struct lbr *this_lbr(void)
{
	return &lbrs[smp_processor_id()];
}

void registers_wipe(void)
{
	lbr_wipe(this_lbr());
}

static unsigned int kinds_of(u64 branch_sample_type)
{
	static const struct {
		u64 type;
		unsigned int kinds;
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY, ~0u },
		{ PERF_SAMPLE_BRANCH_ANY_CALL, 1 << LBR_CALL | 1 << LBR_IND_CALL },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, 1 << LBR_RETURN },
		{ PERF_SAMPLE_BRANCH_IND_CALL, 1 << LBR_IND_CALL },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, 1 << LBR_IND_JUMP },
		{ PERF_SAMPLE_BRANCH_COND, 1 << LBR_COND },
		{ PERF_SAMPLE_BRANCH_CALL, 1 << LBR_CALL },
		{ PERF_SAMPLE_BRANCH_CALL_STACK,
		  1 << LBR_CALL | 1 << LBR_IND_CALL | 1 << LBR_RETURN },
	};
	unsigned int kinds = 0;
	size_t i;

	if (!(branch_sample_type & PERF_SAMPLE_BRANCH_USER))
		return 0;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (branch_sample_type & table[i].type)
			kinds |= table[i].kinds;
	return kinds;
}

void registers_filter(u64 branch_sample_type)
{
	struct lbr *lbr = this_lbr();

	lbr->kinds = kinds_of(branch_sample_type);
	lbr->is_stack = !!(branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

static unsigned int type_of(enum lbr_kind kind)
{
	switch (kind) {
	case LBR_COND:
		return PERF_BR_COND;
	case LBR_JUMP:
		return PERF_BR_UNCOND;
	case LBR_IND_JUMP:
		return PERF_BR_IND;
	case LBR_CALL:
		return PERF_BR_CALL;
	case LBR_IND_CALL:
		return PERF_BR_IND_CALL;
	case LBR_RETURN:
		return PERF_BR_RET;
	default:
		return PERF_BR_UNKNOWN;
	}
}

/* The user's code that was interrupted: @regs, or where it entered the kernel that was. */
static void arrive(struct lbr *lbr, struct pt_regs *regs)
{
	if (user_mode(regs))
		lbr_arrive(lbr, regs->ip);
	else if (!(current->flags & PF_KTHREAD))
		lbr_arrive(lbr, task_pt_regs(current)->ip);
}

/*
 * As Intel's driver reads them: a call stack ends at the first empty register, and of the others
 * the driver hands on the empty ones, too, where nothing has it look at the rows.
 */
void registers_read(struct branch_rows *ret, u64 branch_sample_type, struct pt_regs *regs)
{
	const u64 all =
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL;
	bool keep_empty = simpmu_tos && (branch_sample_type & all) == all &&
			  !(branch_sample_type & PERF_SAMPLE_BRANCH_TYPE_SAVE);
	struct lbr *lbr = this_lbr();
	unsigned int i, n = 0;

	arrive(lbr, regs);
	for (i = 0; i < lbr->depth; i++) {
		const struct lbr_row *row = &lbr->rows[(lbr->newest + lbr->depth - i) % lbr->depth];

		if (!row->from && !keep_empty)
			break;
		ret->entries[n] = (struct perf_branch_entry){
			.from = row->from,
			.to = row->to,
			.predicted = 1,
		};
		if (branch_sample_type & PERF_SAMPLE_BRANCH_TYPE_SAVE)
			ret->entries[n].type = type_of(row->kind);
		n++;
	}
	ret->stack.nr = n;
	ret->stack.hw_idx = simpmu_tos ? lbr->newest : 0;
}

static void on_switch(void *unused, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	registers_wipe();
}

static void on_signal(void *unused, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	unsigned long flags;

	local_irq_save(flags);
	lbr_arrive(this_lbr(), task_pt_regs(current)->ip);
	local_irq_restore(flags);
}

/* Their tracepoints are not exported, but can be found. */
static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} probes[] = {
	{ "sched_switch", on_switch },
	{ "signal_deliver", on_signal },
};

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (strcmp(tracepoint->name, probes[i].name) == 0)
			probes[i].tracepoint = tracepoint;
}

static void unregister_probes(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].tracepoint)
			tracepoint_probe_unregister(probes[i].tracepoint, probes[i].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int register_probes(void)
{
	size_t i;
	int r = 0;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes) && r == 0; i++)
		r = probes[i].tracepoint ?
			    tracepoint_probe_register(probes[i].tracepoint, probes[i].probe, NULL) :
			    -ENOENT;
	return r;
}

static int map_registers(void)
{
	device = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110, NULL);
	if (device)
		lbrs = memremap(pci_resource_start(device, 2), LBR_BYTES, MEMREMAP_WB);
	else
		lbrs = kvzalloc(LBR_BYTES, GFP_KERNEL);
	return lbrs ? 0 : -ENOMEM;
}

static void unmap_registers(void)
{
	if (device)
		memunmap(lbrs);
	else
		kvfree(lbrs);
	pci_dev_put(device);
}

int registers_init(void)
{
	unsigned int i;
	int r;

	if (num_possible_cpus() > LBR_MAX_CPUS)
		return -E2BIG;
	r = map_registers();
	if (r < 0)
		return r;
	for (i = 0; i < LBR_MAX_CPUS; i++) {
		lbrs[i] = (struct lbr){ .depth = max(simpmu_depth, 1u) };
	}
	r = register_probes();
	if (r < 0) {
		unregister_probes();
		unmap_registers();
	}
	return r;
}

void registers_done(void)
{
	unsigned int i;

	unregister_probes();
	for (i = 0; i < LBR_MAX_CPUS; i++)
		lbrs[i].kinds = 0;
	unmap_registers();
}
