/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every mode of sampling, in the guest with the simulated PMU: the sampler and the collector as the
 * daemon has them, on two programs of known calls, one to a CPU.
 *
 * The programs are forks of this one. They leave the frame pointer 0, so that a caller that is seen
 * was in a branch record.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/util/array.h"
#include "daemon/collector/collector.h"
#include "daemon/sampler/probe.h"
#include "daemon/sampler/sampler.h"

#define N_PROGRAMS 2
#define SAMPLES    2500 /* with those left out: enough for phases of both kinds on each CPU */
#define ENOUGH     50   /* samples, for the programs to have run all through a window */
#define PATIENCE   400  /* windows, at most, until there are enough samples */
#define OTHER_UID  4242
#define GROUP      "/sys/fs/cgroup/chain.service"

/* Kept out of the code, for the kernel to find no caller by it. */
register void *frame_pointer asm("rbp");

static volatile unsigned int sink;
static unsigned int n_failed;

/* Each in a section of its own, whose begin and end the linker defines. */
#define IN(function) __attribute__((noinline, noclone, section("in_" #function)))

IN(chain_c) static void chain_c(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink += i;
}

IN(chain_b) static void chain_b(unsigned int n)
{
	chain_c(n);
	chain_c(n + 1);
	sink++;
}

IN(chain_a) static void chain_a(void)
{
	frame_pointer = NULL;
	for (;;) {
		chain_b(500);
		sink++;
	}
}

extern const char __start_in_chain_a[], __stop_in_chain_a[];
extern const char __start_in_chain_b[], __stop_in_chain_b[];
extern const char __start_in_chain_c[], __stop_in_chain_c[];

#define check(condition, ...)                               \
	do {                                                \
		if (!(condition)) {                         \
			printf("    FAILED: " __VA_ARGS__); \
			putchar('\n');                      \
			n_failed++;                         \
		}                                           \
	} while (0)

/* What was measured: the windows that were whole, and all of them with the last. */
struct measured {
	struct sampler_probe probe;
	struct sampler_counts counts;
	struct profile *windows[PATIENCE + 100];
	size_t n_windows;
	uint64_t samples, samples_limit; /* of all */
};

static void measured_done(struct measured *m)
{
	for (size_t i = 0; i < m->n_windows; i++)
		profile_free(m->windows[i]);
}

static bool take_windows(struct collector *collector, struct measured *m)
{
	struct window_profile collected;
	struct fault fault = { "" };
	int r = 0;

	while (m->n_windows < ARRAY_SIZE(m->windows) &&
	       (r = collector_take(collector, &collected, &fault)) > 0) {
		m->samples += collected.profile->counters.samples;
		m->samples_limit += collected.profile->counters.samples_limit;
		check(profile_finalize(collected.profile) == 0, "no memory");
		m->windows[m->n_windows++] = collected.profile;
	}
	check(r >= 0, "sampling ended: %s", fault.text);
	return r >= 0;
}

static pid_t programs[N_PROGRAMS];
static struct helpers *helpers;

static uint64_t count_samples(const struct profile *p, pid_t pid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_processes; i++)
		n += p->processes[i].pid == pid ? p->processes[i].samples : 0;
	return n;
}

/* Whether sampling, and the programs, went on through all of window @i. */
static bool is_whole(const struct measured *m, size_t i)
{
	const struct profile *p = m->windows[i];

	return i > 0 && i + 1 < m->n_windows && m->windows[i - 1]->counters.samples > 0 &&
	       count_samples(p, programs[0]) + count_samples(p, programs[1]) >= ENOUGH;
}

static size_t next_whole(const struct measured *m, size_t i)
{
	while (i < m->n_windows && !is_whole(m, i))
		i++;
	return i;
}

static bool is_enough(const struct collector *collector, const struct measured *m)
{
	struct sampler_counts counts;

	collector_get_counts(collector, &counts);
	return counts.taken + counts.filtered >= SAMPLES && next_whole(m, 0) < m->n_windows;
}

/* Samples for a while. */
static bool measure(const struct sampler_settings *settings, struct measured *m)
{
	const struct collector_settings collecting = {
		.window_us = 1000000,
		.max_queued = ARRAY_SIZE(m->windows),
		.units = settings->only.units,
	};
	struct collector *collector = NULL;
	struct sampler *sampler;
	struct fault fault = { "" };

	*m = (struct measured){ 0 };
	if (sampler_open(&sampler, settings, helpers, &fault) < 0 ||
	    collector_start(&collector, sampler, &collecting, &fault) < 0) {
		check(false, "%s", fault.text);
		return false;
	}
	m->probe = *sampler_probe(sampler);
	while (take_windows(collector, m) && !is_enough(collector, m) && m->n_windows < PATIENCE)
		usleep(100000);
	collector_stop(collector);
	take_windows(collector, m);
	collector_get_counts(collector, &m->counts);
	collector_free(collector);
	return true;
}

static void check_accounts(const struct measured *m)
{
	const struct sampler_counts *c = &m->counts;

	printf("    %s, %s: %zu windows, %" PRIu64 " samples, %" PRIu64 " filtered, %" PRIu64
	       " skipped; %" PRIu64 " snapshots, %" PRIu64 " empty, %" PRIu64 " full, %" PRIu64
	       " rows\n",
	       sampler_mode_name(m->probe.mode), m->probe.event, m->n_windows, c->taken,
	       c->filtered, c->skipped, c->snapshots, c->snapshots_empty, c->snapshots_full,
	       c->rows);
	check(c->taken == c->written + c->ring_full + c->no_ring,
	      "samples taken are not all there");
	check(c->written == m->samples + m->samples_limit + c->undecodable,
	      "%" PRIu64 " written, %" PRIu64 " in windows", c->written, m->samples);
	check(c->undecodable == 0, "%" PRIu64 " cannot be read", c->undecodable);
	check(c->taken > 0, "no samples");
	check(c->running_ns == c->enabled_ns, "the events have taken turns with others");
	check(c->no_branch_stack == 0, "%" PRIu64 " samples without a branch stack",
	      c->no_branch_stack);
	if (m->probe.period) /* timers of an emulator are late */
		check(c->skipped * 20 < c->taken + c->filtered, "%" PRIu64 " skipped", c->skipped);
}

/* The file offset of this program's own code: it is mapped as it lies there, page by page. */
static uint64_t offset_of(const char *address)
{
	static uint64_t shift;
	unsigned long start, end, offset;
	FILE *f = shift ? NULL : fopen("/proc/self/maps", "re");
	char line[512];

	while (f && !shift && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (uintptr_t)address - start < end - start)
			shift = start - offset;
	if (f)
		fclose(f);
	return (uintptr_t)address - shift;
}

static bool is_in(const struct profile *p, struct location at, const char *start, const char *stop)
{
	return at.object != PROFILE_NONE && strstr(p->objects[at.object].path, "check-modes") &&
	       at.offset >= offset_of(start) && at.offset < offset_of(stop);
}

#define IS_IN(p, at, name) is_in(p, at, __start_in_##name, __stop_in_##name)

/* What windows have of one program. */
struct seen {
	uint64_t alone, with_callers; /* samples in the innermost function */
	uint64_t invalid;             /* ... whose callers are not those there are */
	uint64_t taken;               /* branches */
};

/* Are these the callers of the innermost function, as far as they are known, and nothing after
 * them? */
static bool is_right(const struct profile *p, uint32_t caller)
{
	if (!IS_IN(p, p->stacks[caller].frame, chain_b))
		return false;
	caller = p->stacks[caller].parent;
	if (caller != PROFILE_NONE && !IS_IN(p, p->stacks[caller].frame, chain_a))
		return false;
	for (; caller != PROFILE_NONE; caller = p->stacks[caller].parent)
		if (IS_IN(p, p->stacks[caller].frame, chain_b) ||
		    IS_IN(p, p->stacks[caller].frame, chain_c))
			return false;
	return true;
}

static void look_at_stack(const struct profile *p, const struct profile_stack *s, struct seen *seen)
{
	if (s->samples == 0 || !IS_IN(p, s->frame, chain_c))
		return;
	if (s->parent == PROFILE_NONE) {
		seen->alone += s->samples;
		return;
	}
	seen->with_callers += s->samples;
	seen->invalid += is_right(p, s->parent) ? 0 : s->samples;
}

static void look(const struct profile *p, pid_t pid, struct seen *seen)
{
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->processes[p->stacks[i].process].pid == pid)
			look_at_stack(p, &p->stacks[i], seen);
	for (size_t i = 0; i < p->n_branches; i++)
		if (p->processes[p->branches[i].process].pid == pid)
			seen->taken += p->branches[i].taken;
}

static void start_program(int cpu)
{
	cpu_set_t cpus;
	FILE *group;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (cpu == 0)
		chain_a();
	mkdir(GROUP, 0755);
	group = fopen(GROUP "/cgroup.procs", "w");
	if (!group || fprintf(group, "%d", getpid()) < 0 || fclose(group) != 0 ||
	    setuid(OTHER_UID) < 0)
		_exit(EXIT_FAILURE);
	chain_a();
}

static void start_programs(void)
{
	for (int cpu = 0; cpu < N_PROGRAMS; cpu++) {
		programs[cpu] = fork();
		if (programs[cpu] == 0)
			start_program(cpu);
	}
	sleep(1);
}

static void stop_programs(void)
{
	for (int cpu = 0; cpu < N_PROGRAMS; cpu++) {
		kill(programs[cpu], SIGKILL);
		waitpid(programs[cpu], NULL, 0);
	}
}

static const struct sampler_settings usual = { .frequency = 999, .kernel = true };

static void check_whole(const struct measured *m)
{
	check(next_whole(m, 0) < m->n_windows, "no window is whole: that was no test");
}

/* Of both CPUs, whose phases a guest that is starved may draw out, but which are opposite. */
static void check_window(const struct measured *m, size_t i)
{
	const struct profile_counters *c = &m->windows[i]->counters;

	for (int cpu = 0; cpu < N_PROGRAMS; cpu++)
		if (count_samples(m->windows[i], programs[cpu]) < ENOUGH / 2)
			return;
	check(c->samples_call_stack > 0, "window %zu: no call stacks", i);
	check(c->rows_counted > 0, "window %zu: no branches", i);
}

static void check_both(void)
{
	struct seen sum[N_PROGRAMS] = { 0 };
	struct measured m;

	puts("stack+branch: each window has both, and each CPU");
	if (!measure(&usual, &m))
		return;
	check_accounts(&m);
	check(m.probe.mode == SAMPLER_STACK_BRANCH, "another mode: %s", m.probe.why_not_better);
	check_whole(&m);
	for (size_t i = next_whole(&m, 0); i < m.n_windows; i = next_whole(&m, i + 1))
		check_window(&m, i);
	for (int cpu = 0; cpu < N_PROGRAMS; cpu++) {
		for (size_t i = 0; i < m.n_windows; i++)
			look(m.windows[i], programs[cpu], &sum[cpu]);
		check(sum[cpu].with_callers > 0, "CPU %d: no call stacks", cpu);
		check(sum[cpu].alone > 0 && sum[cpu].taken > 0, "CPU %d: no branches", cpu);
		check(sum[cpu].invalid == 0, "CPU %d: %" PRIu64 " invalid stacks", cpu,
		      sum[cpu].invalid);
	}
	measured_done(&m);
}

static void check_one(enum sampler_mode mode)
{
	bool calls = mode == SAMPLER_STACK, branches = mode == SAMPLER_BRANCH;
	struct sampler_settings settings = usual;
	struct measured m;

	printf("%s: nothing of the others\n", sampler_mode_name(mode));
	settings.mode = mode;
	if (!measure(&settings, &m))
		return;
	check_accounts(&m);
	check_whole(&m);
	for (size_t i = next_whole(&m, 0); i < m.n_windows; i = next_whole(&m, i + 1)) {
		const struct profile_counters *c = &m.windows[i]->counters;
		struct seen seen = { 0 };

		for (int cpu = 0; cpu < N_PROGRAMS; cpu++)
			look(m.windows[i], programs[cpu], &seen);
		check((seen.with_callers > 0) == calls, "window %zu: call stacks", i);
		check((seen.taken > 0) == branches, "window %zu: branches", i);
		check(seen.invalid == 0, "window %zu: invalid stacks", i);
		check((c->samples_call_stack > 0) == calls, "window %zu: counted as stacks", i);
		check(c->stacks_since_switch == (m.probe.since_switch ? c->samples_call_stack : 0),
		      "window %zu: of what quality they are", i);
	}
	measured_done(&m);
}

static void check_only(const char *what, const struct task_filter *only)
{
	struct sampler_settings settings = usual;
	struct measured m;
	uint64_t n_others = 0, n = 0;

	printf("samples of one %s only\n", what);
	settings.only = *only;
	if (!measure(&settings, &m))
		return;
	check_accounts(&m);
	check(m.counts.filtered > 0, "nothing was left out");
	for (size_t i = 0; i < m.n_windows; i++)
		for (size_t k = 0; k < m.windows[i]->n_processes; k++) {
			const struct profile_process *p = &m.windows[i]->processes[k];

			*(p->pid == programs[1] ? &n : &n_others) += p->samples;
		}
	check(n > 0 && n_others == 0, "%" PRIu64 " samples, and %" PRIu64 " of others", n,
	      n_others);
	measured_done(&m);
}

static void check_restrictions(void)
{
	const struct task_filter pid = { .pids = { 1, { (uint32_t)programs[1] } } };
	const struct task_filter uid = { .uids = { 2, { 77777, OTHER_UID } } };
	const struct task_filter unit = { .units = { 1, { "chain.service" } } };

	check_only("process", &pid);
	check_only("user", &uid);
	check_only("unit", &unit);
}

static void check_filter(const char *filter, bool calls)
{
	struct sampler_settings settings = usual;
	struct measured m;

	printf("filter %s\n", filter);
	settings.mode = SAMPLER_BRANCH;
	settings.only.pids = (struct id_list){ 1, { (uint32_t)programs[0] } };
	branch_filter_parse(filter, &settings.branch_filter);
	if (!measure(&settings, &m))
		return;
	check_accounts(&m);
	check(strcmp(m.probe.filter, filter) == 0, "it is %s", m.probe.filter);
	check_whole(&m);
	for (size_t i = next_whole(&m, 0); i < m.n_windows; i = next_whole(&m, i + 1)) {
		const struct profile *p = m.windows[i];

		check(p->n_branches > 0, "window %zu: no branches", i);
		check((p->n_blocks > 0) != calls, "window %zu: %zu blocks", i, p->n_blocks);
		for (size_t k = 0; calls && k < p->n_branches; k++)
			check(!IS_IN(p, p->branches[k].from, chain_c), "a branch that is no call");
	}
	measured_done(&m);
}

static void check_event(void)
{
	struct sampler_settings settings = usual;
	struct measured m;

	puts("by taken branches, one in a million");
	event_spec_parse("branches", &settings.event);
	settings.period = 1000003;
	if (!measure(&settings, &m))
		return;
	check_accounts(&m);
	check(strcmp(m.probe.event, "branches") == 0 && m.probe.period == 1000003,
	      "%s every %" PRIu64, m.probe.event, m.probe.period);
	measured_done(&m);
}

/*
 * With the first event that has branch records, and after the last, the kernel patches the code of
 * its scheduler, at which an emulator may stumble: one of them stays open.
 */
static void keep_patched(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		.disabled = 1,
	};

	check(syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) >= 0, "no event: %s",
	      strerror(errno));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (access("/dev/simpmu", F_OK) < 0) {
		puts("skipped: there is no simulated PMU here");
		return 77;
	}
	check(helpers_new(&helpers, NULL) == 0, "no launcher");
	keep_patched();
	start_programs();
	check_both();
	check_one(SAMPLER_BRANCH);
	check_one(SAMPLER_STACK);
	check_one(SAMPLER_SOFTWARE);
	check_restrictions();
	check_filter("any_call,u", true);
	check_filter("any,u", false);
	check_event();
	stop_programs();
	printf("%u failed\n", n_failed);
	return n_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
