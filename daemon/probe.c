/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/cleanup.h"

static const char *const mode_names[N_SAMPLER_MODES] = {
	[SAMPLER_AUTO] = "auto",
	[SAMPLER_SOFTWARE] = "software",
	[SAMPLER_STACK] = "stack",
	[SAMPLER_BRANCH] = "branch",
	[SAMPLER_STACK_BRANCH] = "stack+branch",
};

const char *sampler_mode_name(enum sampler_mode mode)
{
	return mode_names[mode];
}

int sampler_mode_parse(const char *name)
{
	for (int i = 0; i < N_SAMPLER_MODES; i++)
		if (strcmp(name, mode_names[i]) == 0)
			return i;
	return -EINVAL;
}

int probe_open_event(const struct perf_event_attr *attr, int cpu, void *userdata)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The number in a file of one; @otherwise where there is none. */
static long read_number(const char *path, long otherwise)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	long n;

	return f && fscanf(f, "%ld", &n) == 1 ? n : otherwise;
}

static int explain_permission(int r, const char *what, struct fault *fault)
{
	long paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", 2);

	if (paranoid > 2)
		return fault_set(
			fault, r,
			"%s: not permitted, for kernel.perf_event_paranoid is %ld: run as root "
			"(CAP_SYS_ADMIN), or set it to 2 and grant CAP_PERFMON and CAP_BPF",
			what, paranoid);
	return fault_set(fault, r,
			 "%s: not permitted: run as root, or grant CAP_PERFMON and CAP_BPF", what);
}

int probe_explain(int r, const char *what, struct fault *fault)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		return explain_permission(r, what, fault);
	case -EMFILE:
		return fault_set(fault, r,
				 "%s: too many open files: three are needed for each CPU "
				 "(ulimit -n, LimitNOFILE=)",
				 what);
	case -ENOSYS:
		return fault_set(fault, r,
				 "%s: this kernel has no perf events: use one built with "
				 "CONFIG_PERF_EVENTS=y",
				 what);
	default:
		return fault_set(fault, r, "%s: %s", what, strerror(-r));
	}
}

/* Why the event with branch records could not be had; "" where it could. */
static void explain_no_rows(int r, char *ret, size_t n)
{
	const char *why;

	switch (r) {
	case -ENOENT:
		why = "no hardware PMU: cycles gives ENOENT; a virtual machine needs one passed on "
		      "by its host";
		break;
	case -EOPNOTSUPP:
		why = "the PMU gives no branch records: cycles with a branch stack gives "
		      "EOPNOTSUPP; they need Intel's LBR, AMD's LbrExtV2 (Zen 4) or Arm's BRBE, "
		      "passed on to a virtual machine";
		break;
	case -EACCES:
	case -EPERM:
		why = "branch records of the kernel are not permitted: run as root, or grant "
		      "CAP_PERFMON";
		break;
	case -EBUSY:
		why = "the branch records are in use (Intel PT?): cycles with a branch stack gives "
		      "EBUSY";
		break;
	case -EINVAL:
		why = "the PMU refuses the branch filter: cycles with a branch stack gives EINVAL";
		break;
	default:
		snprintf(ret, n, "cycles with a branch stack: %s", strerror(-r));
		return;
	}
	snprintf(ret, n, "%s", why);
}

/* Branch records have no mode of theirs yet; that the machine has them is said all the same. */
static void probe_rows(struct sampler_probe *what, int cpu, probe_opener open, void *userdata)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 10000019,
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				      PERF_SAMPLE_BRANCH_KERNEL,
		.disabled = 1,
		.exclude_guest = 1,
	};
	int fd = open(&attr, cpu, userdata);

	if (fd < 0) {
		explain_no_rows(fd, what->why_not_better, sizeof(what->why_not_better));
		return;
	}
	close(fd);
	snprintf(what->why_not_better, sizeof(what->why_not_better),
		 "this version of branchd does not read the branch records that the machine has");
}

/* The CPU's own clock: everywhere, and in a guest without a PMU the only one. */
static int probe_software(struct probe_result *ret, const struct sampler_settings *settings,
			  int cpu, probe_opener open, void *userdata, struct fault *fault)
{
	int fd;

	ret->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(ret->attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / settings->frequency,
		.disabled = 1,
		.exclude_kernel = !settings->kernel,
	};
	ret->ticks_when_idle = settings->kernel;
	ret->what.mode = SAMPLER_SOFTWARE;
	snprintf(ret->what.event, sizeof(ret->what.event), "cpu-clock");
	fd = open(&ret->attr, cpu, userdata);
	if (fd < 0)
		return probe_explain(fd, "cannot sample by the CPU's clock", fault);
	close(fd);
	return 0;
}

int probe_run(struct probe_result *ret, const struct sampler_settings *settings, int cpu,
	      probe_opener open, void *userdata, struct fault *fault)
{
	struct probe_result result = { 0 };
	int r;

	open = open ? open : probe_open_event;
	if (settings->frequency == 0 || settings->frequency > 100000)
		return fault_set(fault, -EINVAL, "cannot sample %llu times a second",
				 (unsigned long long)settings->frequency);
	probe_rows(&result.what, cpu, open, userdata);
	if (settings->mode != SAMPLER_AUTO && settings->mode != SAMPLER_SOFTWARE)
		return fault_set(fault, -EOPNOTSUPP, "mode %s: %s; mode auto samples stacks",
				 sampler_mode_name(settings->mode), result.what.why_not_better);
	r = probe_software(&result, settings, cpu, open, userdata, fault);
	if (r < 0)
		return r;
	*ret = result;
	return 0;
}
