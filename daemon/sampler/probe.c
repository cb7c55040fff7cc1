/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/builder/duplicate-record.h"
#include "common/util/cleanup.h"
#include "daemon/sampler/event-attr.h"

/* The number in the file, or @otherwise. */
static long read_number(const char *path, long otherwise)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	long n;

	return f && fscanf(f, "%ld", &n) == 1 ? n : otherwise;
}

/* Not permitted: why, and what to do. */
static void explain_permission(const char *what, char *ret, size_t n)
{
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", 2);

	if (paranoid > 2)
		snprintf(ret, n,
			 "%s: not permitted: kernel.perf_event_paranoid is %ld: run as root "
			 "(CAP_SYS_ADMIN), or set it to 2 and grant CAP_PERFMON and CAP_BPF",
			 what, paranoid);
	else
		snprintf(ret, n, "%s: not permitted: run as root, or grant CAP_PERFMON and CAP_BPF",
			 what);
}

static int explain_open_files(int r, const char *what, struct fault *fault)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return fault_set(fault, r,
			 "%s: too many open files: the limit is %llu, and each CPU needs five: "
			 "raise LimitNOFILE= or ulimit -n",
			 what, (unsigned long long)limit.rlim_cur);
}

int probe_explain(int r, const char *what, struct fault *fault)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		explain_permission(what, fault->text, sizeof(fault->text));
		return r;
	case -EMFILE:
		return explain_open_files(r, what, fault);
	case -ENOSYS:
		return fault_set(fault, r,
				 "%s: this kernel has no perf events: use one built with "
				 "CONFIG_PERF_EVENTS=y",
				 what);
	default:
		return fault_set(fault, r, "%s: %s", what, strerror(-r));
	}
}

/* A run of the probe. */
struct probing {
	struct probe_result result;
	const struct sampler_settings *settings;
	const struct machine *machine;
	const struct lbr *lbr;
	probe_opener open;
	void *userdata;
};

/* Why the event with branch records cannot be opened. */
static void explain_no_records(int r, char *ret, size_t n)
{
	const char *why;

	switch (r) {
	case -ENOENT:
		why = "no hardware PMU, or not this event (ENOENT for it): the host of a virtual "
		      "machine must pass a PMU on";
		break;
	case -EOPNOTSUPP:
		why = "no branch records (EOPNOTSUPP for a branch stack): they need Intel's LBR, "
		      "AMD's LbrExtV2 (Zen 4) or Arm's BRBE; the host of a virtual machine must "
		      "pass them on";
		break;
	case -EACCES:
	case -EPERM:
		explain_permission("branch records", ret, n);
		return;
	case -EBUSY:
		why = "the branch records are in use, perhaps by Intel PT (EBUSY for a branch "
		      "stack)";
		break;
	case -EINVAL:
		why = "the PMU rejects the branch filter (EINVAL for a branch stack)";
		break;
	default:
		snprintf(ret, n, "a branch stack: %s", strerror(-r));
		return;
	}
	snprintf(ret, n, "%s", why);
}

/* Why there are branch records, but no call-stack mode. */
static void explain_no_calls(const struct probing *p, int r, char *ret, size_t n)
{
	if (!p->lbr->call_stack || r == -EOPNOTSUPP || r == -EINVAL)
		snprintf(
			ret, n,
			"%s without a call-stack mode (Intel's have it since Haswell): call stacks "
			"come from frame pointers",
			p->lbr->name);
	else
		snprintf(ret, n, "the call-stack mode of the branch records: %s", strerror(-r));
}

void probe_adapt(const struct machine *machine, uint32_t cpu, struct perf_event_attr *attr)
{
	const struct pmu *pmu = machine_pmu(machine, cpu);

	if (!pmu)
		return;
	if (attr->type == PERF_TYPE_RAW) {
		attr->type = pmu->type;
		attr->config = attr->config ?: lbr_taken_event(machine, pmu);
	} else if ((attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
		   strncmp(pmu->name, "cpu_", 4) == 0) {
		attr->config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
	}
}

/* Opens the event on one CPU, and closes it. 0 or -errno. */
static int try_cpu(const struct probing *p, const struct perf_event_attr *attr, uint32_t cpu)
{
	struct perf_event_attr copy = *attr;
	int fd;

	probe_adapt(p->machine, cpu, &copy);
	fd = p->open(&copy, (int)cpu, p->userdata);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_pmu(const struct probing *p, const struct perf_event_attr *attr,
		   const struct pmu *pmu)
{
	return try_cpu(p, attr, pmu->cpus[0] ? (uint32_t)atoi(pmu->cpus) : p->machine->first_cpu);
}

/* Tries the event on a CPU of each PMU that has it; on any CPU if no PMU is known. 0 or -errno. */
static int try_event(const struct probing *p, const struct perf_event_attr *attr)
{
	const struct machine *m = p->machine;
	int r = 0;

	if (p->result.only)
		return try_pmu(p, attr, p->result.only);
	if (m->n_pmus == 0)
		return try_cpu(p, attr, m->first_cpu);
	for (size_t i = 0; i < m->n_pmus && r >= 0; i++)
		r = try_pmu(p, attr, &m->pmus[i]);
	return r;
}

static bool is_prime(uint64_t n)
{
	for (uint64_t i = 3; i <= n / i; i += 2)
		if (n % i == 0)
			return false;
	return true;
}

#define USUAL_HZ     2000000000
#define LEAST_CYCLES 10000 /* between two samples */

/*
 * The number of events between samples. It is constant, so that all samples have the same weight,
 * and a prime, so that it does not run in step with the sampled code.
 */
static uint64_t choose_period(const struct probing *p, const struct event_spec *event)
{
	uint64_t hz = p->machine->hz ? p->machine->hz : USUAL_HZ;
	uint64_t period = hz / p->settings->frequency / (event->cycles ?: 1);

	if (p->settings->period)
		return p->settings->period;
	for (period |= 1; !is_prime(period); period += 2)
		;
	return period;
}

static int check_period(const struct probing *p, const struct event_spec *event,
			struct fault *fault)
{
	uint64_t least = LEAST_CYCLES / (event->cycles ?: 1), period = p->settings->period;

	if (period == 0 || period >= least)
		return 0;
	return fault_set(fault, -EINVAL, "Period=%llu is too short for %s: use %llu or more",
			 (unsigned long long)period, event_spec_text(event),
			 (unsigned long long)least);
}

/* Some branch records need an event of taken branches, unless another one was chosen. */
static void choose_event(const struct probing *p, struct event_spec *ret)
{
	*ret = p->settings->event;
	if (p->lbr->taken_only && !event_spec_is_chosen(ret))
		event_spec_parse("branches", ret);
}

/* Sets the requested event, without branch records. */
static int set_event(struct probing *p, struct perf_event_attr *attr, struct fault *fault)
{
	const struct machine *m = p->machine;
	struct sampler_probe *what = &p->result.what;
	struct event_spec event;
	int r;

	choose_event(p, &event);
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.disabled = 1,
		.exclude_guest = 1,
		.exclude_kernel = !p->settings->kernel,
	};
	r = event_attr_set(attr, &p->result.only, &event, m, fault);
	if (r >= 0)
		r = check_period(p, &event, fault);
	for (size_t i = 0; event.kind == EVENT_SPEC_TAKEN_BRANCHES && i < m->n_pmus && r >= 0; i++)
		if (lbr_taken_event(m, &m->pmus[i]) == 0)
			r = fault_set(fault, -EOPNOTSUPP,
				      "branchd knows no event of taken branches of the PMU %s: "
				      "use Event=cycles",
				      m->pmus[i].name);
	if (r < 0)
		return r;
	attr->sample_period = what->period = choose_period(p, &event);
	what->is_counted = p->settings->period || event_spec_is_chosen(&event);
	snprintf(what->event, sizeof(what->event), "%s", event_spec_text(&event));
	return 0;
}

/* The levels of privilege whose branch records are wanted. */
static uint64_t wanted_levels(const struct sampler_settings *settings)
{
	uint64_t levels =
		settings->branch_filter & (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL);

	if (levels == 0)
		levels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL;
	return settings->kernel ? levels : levels & ~(uint64_t)PERF_SAMPLE_BRANCH_KERNEL;
}

/*
 * With some LBRs the kernel would decode the code at each branch record of each sample, in an NMI,
 * to leave out its own. There it is asked for all records, and the BPF program leaves out the
 * kernel's.
 */
static uint64_t choose_filter(struct probing *p)
{
	const uint64_t all = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL;
	uint64_t levels = wanted_levels(p->settings);
	uint64_t kinds = p->settings->branch_filter & ~all ?: PERF_SAMPLE_BRANCH_ANY;

	branch_filter_format(kinds | levels, p->result.what.filter);
	if (levels != PERF_SAMPLE_BRANCH_USER || kinds != PERF_SAMPLE_BRANCH_ANY ||
	    !p->lbr->any_is_free)
		return kinds | levels;
	p->result.leave_kernel = true;
	return kinds | all;
}

/* Adds the event with @filter for branch records, if it can be opened. */
static int add_event(struct probing *p, enum bpf_event event, const struct perf_event_attr *base,
		     uint64_t filter)
{
	struct probe_event *e = &p->result.events[event];
	int r;

	e->attr = *base;
	e->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	e->attr.branch_sample_type = filter;
	r = try_event(p, &e->attr);
	e->used = r >= 0;
	return r;
}

static uint32_t find_depth(const struct probing *p)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < p->machine->n_pmus; i++)
		depth = MAX(depth, p->machine->pmus[i].depth);
	return depth ? depth : p->lbr->depth;
}

/* Fills in the description of the branch records. */
static void describe_records(struct probing *p)
{
	struct sampler_probe *what = &p->result.what;
	bool calls = p->result.events[BPF_EVENT_CALLS].used;

	if (!p->result.events[BPF_EVENT_ANY].used) {
		p->result.leave_kernel = false;
		what->filter[0] = '\0';
	}
	p->result.lbr = p->lbr;
	snprintf(what->records, sizeof(what->records), "%s", p->lbr->name);
	what->depth = find_depth(p);
	what->duplicate_depth = duplicate_record_depth(p->machine->cpuid);
	what->since_switch = calls && !p->machine->keeps_call_stacks;
	if (what->since_switch)
		snprintf(what->note, sizeof(what->note),
			 "call-stack records reach back to the last context switch of the task "
			 "only: before Linux 6.15 the kernel does not save them");
	else if (p->lbr->lacks)
		snprintf(what->note, sizeof(what->note), "%s", p->lbr->lacks);
}

/*
 * By a hardware event with branch records: the requested mode, or the best one. 0; -EOPNOTSUPP if
 * there is none, with the reason in why_not_better; or another -errno and @fault.
 */
static int probe_records(struct probing *p, struct fault *fault)
{
	enum sampler_mode mode = p->settings->mode;
	struct sampler_probe *what = &p->result.what;
	struct perf_event_attr base;
	int r, any, calls = -EOPNOTSUPP;

	r = set_event(p, &base, fault);
	if (r < 0)
		return r;
	any = add_event(p, BPF_EVENT_ANY, &base, choose_filter(p));
	if (any < 0) {
		explain_no_records(any, what->why_not_better, sizeof(what->why_not_better));
		return -EOPNOTSUPP;
	}
	if (mode != SAMPLER_BRANCH && p->lbr->call_stack)
		calls = add_event(p, BPF_EVENT_CALLS, &base,
				  PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
	if (calls < 0 && mode != SAMPLER_BRANCH)
		explain_no_calls(p, calls, what->why_not_better, sizeof(what->why_not_better));
	if (calls < 0 && mode != SAMPLER_BRANCH && mode != SAMPLER_AUTO)
		return -EOPNOTSUPP;
	p->result.events[BPF_EVENT_ANY].used = mode != SAMPLER_STACK;
	what->mode = calls < 0             ? SAMPLER_BRANCH :
		     mode == SAMPLER_STACK ? SAMPLER_STACK :
					     SAMPLER_STACK_BRANCH;
	describe_records(p);
	return 0;
}

/* By an event without branch records: one of a PMU is exact also where the kernel holds interrupts
 * off. -errno, and @fault if the event cannot be had on this machine. */
static int probe_event(struct probing *p, struct fault *fault)
{
	struct probe_event *e = &p->result.events[BPF_EVENT_ANY];
	int r = set_event(p, &e->attr, fault);

	if (r >= 0)
		r = try_event(p, &e->attr);
	e->used = r >= 0;
	p->result.what.mode = SAMPLER_SOFTWARE;
	return r;
}

static int explain_chosen(const struct probing *p, int r, struct fault *fault)
{
	const struct event_spec *event = &p->settings->event;
	char what[EVENT_SPEC_MAX + 16];

	snprintf(what, sizeof(what), "Event=%s", event_spec_text(event));
	if (r == -ENOENT && p->machine->n_pmus == 0)
		return fault_set(fault, r,
				 "%s: no hardware PMU (ENOENT): the host of a virtual machine must "
				 "pass one on",
				 what);
	if (r == -ENOENT)
		return fault_set(fault, r, "%s: the PMU does not count it (ENOENT)", what);
	if (event->precise && (r == -EOPNOTSUPP || r == -EINVAL))
		return fault_set(fault, r,
				 "%s: the PMU has no such precision (%s): use fewer p, or none",
				 what, strerror(-r));
	return probe_explain(r, what, fault);
}

/* An event that was chosen by name is not replaced by another one. */
static int probe_chosen(struct probing *p, struct fault *fault)
{
	enum sampler_mode mode = p->settings->mode;
	int r;

	if (mode != SAMPLER_AUTO && mode != SAMPLER_SOFTWARE)
		return fault_set(
			fault, -EOPNOTSUPP,
			"mode %s: the kernel counts %s itself, without branch records: use "
			"Mode=auto or software",
			sampler_mode_name(mode), event_spec_text(&p->settings->event));
	r = probe_event(p, fault);
	return r < 0 && !fault->text[0] ? explain_chosen(p, r, fault) : r;
}

/* By the CPU's clock: it works everywhere, and alone in a guest without a PMU. */
static int probe_clock(struct probing *p, struct fault *fault)
{
	struct probe_event *e = &p->result.events[BPF_EVENT_ANY];
	struct sampler_probe *what = &p->result.what;
	int r;

	e->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(e->attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / p->settings->frequency,
		.disabled = 1,
		.exclude_kernel = !p->settings->kernel,
	};
	e->used = true;
	p->result.ticks_when_idle = p->settings->kernel;
	what->mode = SAMPLER_SOFTWARE;
	what->period = 0;
	what->is_counted = false;
	snprintf(what->event, sizeof(what->event), "cpu-clock");
	r = try_event(p, &e->attr);
	return r < 0 ? probe_explain(r, "cannot sample by the CPU's clock", fault) : 0;
}

static bool is_clock(const struct sampler_settings *settings)
{
	const struct event_spec *event = &settings->event;

	if (event_spec_is_chosen(event))
		return event_spec_is_software(event) && event->config == PERF_COUNT_SW_CPU_CLOCK &&
		       settings->mode <= SAMPLER_SOFTWARE;
	return settings->mode == SAMPLER_SOFTWARE;
}

/* The requested way of sampling, or the best one. */
static int probe_all(struct probing *p, struct fault *fault)
{
	const struct event_spec *event = &p->settings->event;
	enum sampler_mode mode = p->settings->mode;
	int r;

	if (is_clock(p->settings))
		return probe_clock(p, fault);
	if (event_spec_is_software(event) || mode == SAMPLER_SOFTWARE)
		return probe_chosen(p, fault);
	r = probe_records(p, fault);
	if (r >= 0 || fault->text[0])
		return r;
	if (mode != SAMPLER_AUTO)
		return fault_set(fault, r, "mode %s: %s; Mode=auto uses the best available mode",
				 sampler_mode_name(mode), p->result.what.why_not_better);
	if (event_spec_is_chosen(event))
		return probe_chosen(p, fault);
	return probe_event(p, fault) < 0 ? probe_clock(p, fault) : 0;
}

int probe_run(struct probe_result *ret, const struct sampler_settings *settings,
	      const struct machine *machine, probe_opener open, void *userdata, struct fault *fault)
{
	struct probing p = {
		.settings = settings,
		.machine = machine,
		.lbr = lbr_of(machine),
		.open = open,
		.userdata = userdata,
	};
	int r;

	fault->text[0] = '\0';
	if (settings->frequency == 0 || settings->frequency > 100000)
		return fault_set(fault, -EINVAL,
				 "cannot sample %llu times a second: use 1 to 100000",
				 (unsigned long long)settings->frequency);
	if (wanted_levels(settings) == 0)
		return fault_set(fault, -EINVAL,
				 "no branches left: BranchFilter= is for the kernel alone, and "
				 "Kernel=no leaves it out");
	r = probe_all(&p, fault);
	if (r < 0)
		return r;
	*ret = p.result;
	return 0;
}
