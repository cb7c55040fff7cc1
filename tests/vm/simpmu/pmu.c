// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU: registered as "cpu", of the type that the kernel turns hardware events into, which is
 * free in a guest without a PMU. It counts the time in which a CPU runs a task, as if that were
 * cycles at 2 GHz, or a taken branch in every eight of them.
 *
 * One set of branch record registers serves all events of a CPU: those with different filters are
 * not counted at the same time, but by turns, as the kernel's rotation has it.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/version.h>

#include <asm/irq_regs.h>

#include "simpmu.h"

#define MAX_EVENTS     8
#define MIN_PERIOD_NS  50000  /* with less, an emulator does nothing else */
#define INTEL_BRANCHES 0x20c4 /* BR_INST_RETIRED.NEAR_TAKEN */
#define AMD_BRANCHES   0xc4   /* Retired Taken Branch Instructions */

/* Of branch_sample_type: what of a row is wanted, not which rows. */
#define MODIFIERS                                                           \
	((u64)(PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES | \
	       PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX | \
	       PERF_SAMPLE_BRANCH_PRIV_SAVE))

struct cpu_state {
	struct perf_event *events[MAX_EVENTS];
	struct hrtimer common;
};

static DEFINE_PER_CPU(struct cpu_state, cpu_states);

static bool is_running(const struct perf_event *event)
{
	return !(event->hw.state & PERF_HES_STOPPED);
}

/* Whether the event counts in what was interrupted. */
static bool counts_in(const struct perf_event *event, struct pt_regs *regs)
{
	if (is_idle_task(current))
		return false;
	return user_mode(regs) ? !event->attr.exclude_user : !event->attr.exclude_kernel;
}

void pmu_for_each_running(void (*each)(struct perf_event *event, void *userdata), void *userdata)
{
	struct cpu_state *state = this_cpu_ptr(&cpu_states);
	int i;

	for (i = 0; i < MAX_EVENTS; i++)
		if (state->events[i] && is_sampling_event(state->events[i]) &&
		    is_running(state->events[i]))
			each(state->events[i], userdata);
}

static bool is_cycles(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_HARDWARE;
}

static u64 count_in(const struct perf_event *event, u64 ns)
{
	return is_cycles(event) ? 2 * ns : ns / 4;
}

/* What is left of the period. */
static u64 left_ns(struct perf_event *event)
{
	u64 left = local64_read(&event->hw.period_left);

	return max_t(u64, is_cycles(event) ? left / 2 : 4 * left, MIN_PERIOD_NS);
}

/*
 * A period ends when its timer does, and then counts for as much as it was set to: however late the
 * timer was, an event's count divided by its period is how often it overflowed.
 */
static enum hrtimer_restart on_period(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct hw_perf_event *hw = &event->hw;

	if (!is_running(event))
		return HRTIMER_NORESTART;
	if (counts_in(event, get_irq_regs())) {
		local64_add(local64_read(&hw->period_left), &event->count);
		local64_set(&hw->period_left, hw->sample_period);
		overflow_now(event, get_irq_regs(), NULL);
	}
	local64_set(&hw->prev_count, ktime_get_ns());
	hrtimer_forward_now(timer, ns_to_ktime(left_ns(event)));
	return is_running(event) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart on_common(struct hrtimer *timer)
{
	struct pt_regs *regs = get_irq_regs();

	if (simpmu_common_us <= 0)
		return HRTIMER_NORESTART;
	if (!is_idle_task(current) && user_mode(regs))
		overflow_now(NULL, regs, NULL);
	hrtimer_forward_now(timer, ns_to_ktime(simpmu_common_us * 1000ull));
	return HRTIMER_RESTART;
}

static void init_timer(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#endif
}

static void start_timer(struct hrtimer *timer, u64 ns)
{
	hrtimer_start(timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static void pmu_read(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 now = ktime_get_ns(), passed = count_in(event, now - local64_read(&hw->prev_count));

	if (!is_running(event))
		return;
	if (is_sampling_event(event))
		passed = min_t(u64, passed, local64_read(&hw->period_left));
	local64_set(&hw->prev_count, now);
	local64_add(passed, &event->count);
	local64_sub(passed, &hw->period_left);
}

static void pmu_start(struct perf_event *event, int flags)
{
	struct hw_perf_event *hw = &event->hw;
	struct hrtimer *common = &this_cpu_ptr(&cpu_states)->common;

	hw->state = 0;
	local64_set(&hw->prev_count, ktime_get_ns());
	if (!is_sampling_event(event))
		return;
	/* the kernel has come to another period, or the one before has just ended */
	if (local64_read(&hw->period_left) <= 0 ||
	    local64_read(&hw->period_left) > hw->sample_period)
		local64_set(&hw->period_left, hw->sample_period);
	if (simpmu_common_us == 0)
		start_timer(&hw->hrtimer, left_ns(event));
	else if (simpmu_common_us > 0 && !hrtimer_active(common))
		start_timer(common, simpmu_common_us * 1000ull);
}

static void pmu_stop(struct perf_event *event, int flags)
{
	struct hw_perf_event *hw = &event->hw;

	if (is_sampling_event(event) && !in_nmi())
		hrtimer_cancel(&hw->hrtimer);
	pmu_read(event);
	hw->state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* What the registers are asked to record, by one event. */
static u64 filter_of(struct perf_event *event)
{
	return has_branch_stack(event) ? event->attr.branch_sample_type & ~MODIFIERS : 0;
}

/* The filter that is in force on this CPU; 0: none. */
static u64 current_filter(void)
{
	struct cpu_state *state = this_cpu_ptr(&cpu_states);
	u64 filter = 0;
	int i;

	for (i = 0; i < MAX_EVENTS && !filter; i++)
		if (state->events[i])
			filter = filter_of(state->events[i]);
	return filter;
}

static int pmu_add(struct perf_event *event, int flags)
{
	struct cpu_state *state = this_cpu_ptr(&cpu_states);
	const u64 wanted = filter_of(event), in_force = current_filter();
	int i;

	if (wanted && in_force && wanted != in_force)
		return -EAGAIN;
	for (i = 0; i < MAX_EVENTS && state->events[i]; i++)
		;
	if (i == MAX_EVENTS)
		return -EAGAIN;
	state->events[i] = event;
	if (wanted && !in_force) {
		/* Intel's driver wipes for the first user, and only if that has never counted yet.
		 */
		if (!event->total_time_running)
			registers_wipe();
		registers_filter(wanted);
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		pmu_start(event, PERF_EF_RELOAD);
	perf_event_update_userpage(event);
	return 0;
}

static void pmu_del(struct perf_event *event, int flags)
{
	struct cpu_state *state = this_cpu_ptr(&cpu_states);
	int i;

	pmu_stop(event, PERF_EF_UPDATE);
	for (i = 0; i < MAX_EVENTS; i++)
		if (state->events[i] == event)
			state->events[i] = NULL;
	registers_filter(current_filter());
	perf_event_update_userpage(event);
}

static int check_branches(const struct perf_event *event)
{
	const u64 type = event->attr.branch_sample_type;
	const u64 levels =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;

	if (simpmu_refuse)
		return -simpmu_refuse;
	if (simpmu_depth == 0)
		return -EOPNOTSUPP;
	if (!(type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return 0;
	if (!simpmu_call_stack)
		return -EOPNOTSUPP;
	return type & ~(levels | MODIFIERS | PERF_SAMPLE_BRANCH_CALL_STACK) ? -EINVAL : 0;
}

static int pmu_event_init(struct perf_event *event)
{
	switch (event->attr.type) {
	case PERF_TYPE_HARDWARE:
		if (event->attr.config != PERF_COUNT_HW_CPU_CYCLES)
			return -ENOENT;
		break;
	case PERF_TYPE_RAW:
		if (event->attr.config != INTEL_BRANCHES && event->attr.config != AMD_BRANCHES)
			return -EINVAL;
		break;
	default:
		return -ENOENT;
	}
	if (event->attr.precise_ip)
		return -EOPNOTSUPP;
	if (is_sampling_event(event))
		init_timer(&event->hw.hrtimer, on_period);
	return has_branch_stack(event) ? check_branches(event) : 0;
}

static ssize_t branches_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%u\n", simpmu_depth);
}

static DEVICE_ATTR_RO(branches);

static struct attribute *caps[] = { &dev_attr_branches.attr, NULL };

static umode_t caps_visible(struct kobject *object, struct attribute *attribute, int i)
{
	return simpmu_depth ? attribute->mode : 0;
}

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps,
	.is_visible = caps_visible,
};

PMU_FORMAT_ATTR(event, "config:0-63");

static struct attribute *formats[] = { &format_attr_event.attr, NULL };

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = formats,
};

static const struct attribute_group *groups[] = { &format_group, &caps_group, NULL };

static struct pmu simpmu = {
	.module = THIS_MODULE,
	.attr_groups = groups,
	.task_ctx_nr = perf_hw_context,
	.event_init = pmu_event_init,
	.add = pmu_add,
	.del = pmu_del,
	.start = pmu_start,
	.stop = pmu_stop,
	.read = pmu_read,
};

int pmu_register(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_timer(&per_cpu(cpu_states, cpu).common, on_common);
	return perf_pmu_register(&simpmu, "cpu", PERF_TYPE_RAW);
}

void pmu_unregister(void)
{
	int cpu;

	perf_pmu_unregister(&simpmu);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(cpu_states, cpu).common);
}
