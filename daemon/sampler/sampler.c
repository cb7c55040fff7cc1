/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each CPU has one ring. The BPF programs write samples into it, the kernel records of tasks, all
 * by one clock.
 */
#include "daemon/sampler/sampler.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sample.h"
#include "common/record/decoder.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/sampler/cpu-events.h"
#include "daemon/sampler/cpu-list.h"
#include "daemon/sampler/cpus.h"
#include "daemon/sampler/drain.h"
#include "daemon/sampler/live-sample.h"
#include "daemon/sampler/machine.h"
#include "daemon/sampler/mappings.h"
#include "daemon/sampler/probe.h"
#include "daemon/sampler/proc-scan.h"
#include "daemon/sampler/program.h"
#include "daemon/sampler/running-kernel.h"
#include "daemon/sampler/ticks.h"

#define RINGS_BYTES      (16u << 20) /* of all CPUs; no ring has less than the least */
#define RING_LEAST       (512u << 10)
#define RING_MOST        (2u << 20)
#define RESCAN_NS        10000000000ull /* at least, between two scans of /proc */
#define MODULES_NS       5000000000ull  /* between two scans for modules of the kernel */
#define SCAN_PATIENCE_US 200000         /* with one process */
#define DRAIN_EVERY      256            /* events of a scan */

/* Counted by the thread that drains; any thread reads them. */
struct tally {
	_Atomic uint64_t undecodable, throttled, lost, out_of_order, refused, refused_ticks;
};

struct sampler {
	struct sampler_settings settings;
	struct machine machine;
	struct events_client *events;
	struct events_machine kernel_says;
	struct probe_result probe;
	struct program *program;
	struct ticks *ticks; /* NULL: all samples are captured in full */
	struct cpus *cpus;
	struct decoder *decoder;
	struct drain *drain;
	struct mappings mappings;
	struct opener *opener; /* of the scan of /proc */
	struct running_kernel *kernel;
	struct tally tally;
	uint64_t scanned_ns; /* when the last scan of /proc began */
	uint64_t lost_seen;  /* records of tasks lost by then */
	uint64_t modules_ns; /* when the last scan for modules began */
	bool scanned, started;
};

/* Records go to the handler as events. */
struct delivery {
	struct sampler *sampler;
	sampler_handler handler;
	void *userdata;
};

/* A scan of /proc or of the kernel; the rings are drained between its events. */
struct scan {
	struct sampler *sampler;
	sampler_handler handler;
	void *userdata;
	unsigned int n_events;
};

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static int open_decoder(struct sampler *s, struct fault *fault)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = CPU_EVENTS_SAMPLE_TYPE,
		.sample_id_all = 1,
	};
	int r;

	mappings_init(&s->mappings);
	r = running_kernel_new(&s->kernel, events_client_open_kallsyms(s->events),
			       events_client_open_modules(s->events), "/sys/kernel/notes");
	if (r >= 0)
		r = decoder_new(&s->decoder);
	if (r >= 0)
		r = decoder_add_source(s->decoder, &attr, NULL, 0, fault);
	return r < 0 ? r : drain_new(&s->drain, program_n_cpus(s->program), s->decoder);
}

/* In another pid namespace the kernel would report other task ids than the BPF programs see. */
static int check_namespace(struct fault *fault)
{
	char name[64] = "";

	if (readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 ||
	    strcmp(name, "pid:[4026531836]") == 0)
		return 0;
	return fault_set(fault, -EPERM,
			 "branchd runs in the pid namespace of a container: run it in that of the "
			 "host, for example with --pid=host");
}

static enum bpf_user_stack user_stack(enum sampler_user_stacks wanted)
{
	if (wanted == SAMPLER_USER_NONE)
		return BPF_USER_NONE;
	if (BPF_SAMPLE_N_REGISTERS > 0 && wanted != SAMPLER_USER_FRAME_POINTERS)
		return BPF_USER_COPY;
	return BPF_USER_FRAME_POINTERS;
}

/* What a kernel refuses to load, it may load without the copy of the stack. */
static int load_program(struct sampler *s, struct fault *fault)
{
	const struct probe_result *probe = &s->probe;
	const struct probe_event *any = &probe->events[BPF_EVENT_ANY];
	struct program_settings settings = {
		.by_clock = probe->ticks_when_idle,
		.kernel = s->settings.kernel,
		.user = user_stack(s->settings.user_stacks),
		.lbr = probe->lbr,
		.depth = probe->what.depth,
		.leave_kernel = probe->leave_kernel,
		.some_kinds = !(any->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY),
		.capture = s->settings.capture_share,
		.by_heat = s->settings.hot_share > 0,
		.only = &s->settings.only,
	};
	uint32_t n_cpus = s->kernel_says.n_cpus;
	int r = program_load(&s->program, s->events, n_cpus, &settings, fault);

	if (r >= 0 || s->settings.user_stacks != SAMPLER_USER_AUTO ||
	    settings.user != BPF_USER_COPY)
		return r;
	settings.user = BPF_USER_FRAME_POINTERS;
	return program_load(&s->program, s->events, n_cpus, &settings, fault);
}

static int open_cpus(struct sampler *s, struct fault *fault)
{
	const struct cpus_settings settings = {
		.program = s->program,
		.probe = &s->probe,
		.machine = &s->machine,
		.only = s->settings.cpus,
		.ring_pages = s->settings.ring_pages,
		.together = s->machine.keeps_call_stacks,
		.handler = drain_add,
		.userdata = s->drain,
	};

	return cpus_open(&s->cpus, &settings, fault);
}

static int on_opener_wanted(void *userdata)
{
	return helpers_connect(userdata, HELPER_OPENER);
}

static int make_opener(struct sampler *s, struct helpers *helpers)
{
	const struct opener_settings settings = {
		.connect = on_opener_wanted,
		.userdata = helpers,
		.patience_us = SCAN_PATIENCE_US,
	};

	return opener_new(&s->opener, &settings);
}

static int connect_events(struct sampler *s, struct helpers *helpers, struct fault *fault)
{
	int r = events_client_new(&s->events, helpers);

	if (r < 0)
		return r;
	r = events_client_describe(s->events, &s->kernel_says);
	s->machine.keeps_call_stacks = s->kernel_says.keeps_call_stacks;
	return r < 0 ? fault_set(fault, r, "cannot reach branchd-events, which opens events: %s",
				 strerror(-r)) :
		       r;
}

static int open_event(const struct perf_event_attr *attr, int cpu, void *userdata)
{
	return events_client_open(userdata, attr, (uint32_t)cpu, -1);
}

/* The more is drained at once the less each sample costs; but the rings of all CPUs take memory. */
static size_t default_ring_bytes(void)
{
	size_t n_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), bytes = RING_MOST;

	while (bytes > RING_LEAST && bytes * n_cpus > RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

/* Who may not lock that much memory gets smaller rings, unless their size was asked for. */
static int open_cpus_by_default(struct sampler *s, struct fault *fault)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = default_ring_bytes();
	int r;

	do {
		s->settings.ring_pages = (uint32_t)MAX(bytes / page, (size_t)1);
		r = open_cpus(s, fault);
		bytes /= 2;
	} while (r == -EPERM && bytes >= RING_LEAST);
	return r;
}

static int sampler_init(struct sampler *s, const struct sampler_settings *settings,
			struct helpers *helpers, struct fault *fault)
{
	int r;

	s->settings = *settings;
	if (s->settings.ring_pages & (s->settings.ring_pages - 1))
		return fault_set(fault, -EINVAL,
				 "the size of a ring must be a power of two, and %u pages are not",
				 s->settings.ring_pages);
	machine_read(&s->machine, "");
	s->machine.first_cpu = (uint32_t)cpu_list_first_online();
	r = check_namespace(fault);
	if (r >= 0)
		r = make_opener(s, helpers);
	if (r >= 0)
		r = connect_events(s, helpers, fault);
	if (r >= 0)
		r = probe_run(&s->probe, settings, &s->machine, open_event, s->events, fault);
	if (r >= 0)
		r = load_program(s, fault);
	if (r >= 0 && program_ticks_fd(s->program) >= 0)
		r = ticks_new(&s->ticks, program_ticks_fd(s->program), s->kernel_says.n_cpus);
	if (r >= 0)
		r = open_decoder(s, fault);
	if (r < 0)
		return r;
	return s->settings.ring_pages ? open_cpus(s, fault) : open_cpus_by_default(s, fault);
}

int sampler_open(struct sampler **ret, const struct sampler_settings *settings,
		 struct helpers *helpers, struct fault *fault)
{
	_cleanup_(sampler_freep) struct sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	fault->text[0] = '\0';
	r = sampler_init(s, settings, helpers, fault);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	*ret = TAKE_PTR(s);
	return 0;
}

struct sampler *sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return NULL;
	cpus_free(sampler->cpus);
	ticks_free(sampler->ticks);
	program_free(sampler->program);
	drain_free(sampler->drain);
	decoder_free(sampler->decoder);
	running_kernel_free(sampler->kernel);
	opener_free(sampler->opener);
	events_client_free(sampler->events);
	free(sampler);
	return NULL;
}

struct running_kernel *sampler_kernel(struct sampler *sampler)
{
	return sampler->kernel;
}

void sampler_announce_files(struct sampler *sampler, struct mapped_files *files)
{
	sampler->mappings.files = files;
}

uint64_t sampler_new_files(const struct sampler *sampler)
{
	return sampler->mappings.files ? mapped_files_count_new(sampler->mappings.files) : 0;
}

const struct sampler_probe *sampler_probe(const struct sampler *sampler)
{
	return &sampler->probe.what;
}

int sampler_fd(const struct sampler *sampler)
{
	return cpus_fd(sampler->cpus);
}

static int on_scanned(const struct event *event, void *userdata)
{
	struct scan *scan = userdata;
	int r = scan->handler(event, scan->userdata);

	if (r >= 0 && ++scan->n_events % DRAIN_EVERY == 0)
		r = drain_copy(scan->sampler->drain, scan->sampler->cpus);
	return r;
}

/* Another CPU writes the counters meanwhile; each single one is consistent. */
static uint64_t read_counter(const __u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

uint64_t sampler_taken(const struct sampler *sampler)
{
	uint64_t n = 0;

	for (uint32_t cpu = 0; cpu < program_n_cpus(sampler->program); cpu++)
		n += read_counter(&program_counters(sampler->program, cpu)->taken);
	return n;
}

/*
 * The records of tasks that were lost because a ring was full. The kernel reports how many records
 * of any kind were lost with the next one that fits; the BPF programs count the samples among them.
 */
static uint64_t count_lost_records(const struct sampler *s)
{
	uint64_t lost = get(&s->tally.lost), n_samples = 0;

	for (uint32_t cpu = 0; cpu < program_n_cpus(s->program); cpu++)
		n_samples += read_counter(&program_counters(s->program, cpu)->ring_full);
	return lost > n_samples ? lost - n_samples : 0;
}

/*
 * Scans /proc. Records that the rings deliver later may be older, and repeat what the scan has
 * reported; but the newest record counts in the end.
 */
static int scan_proc(struct sampler *s, sampler_handler handler, void *userdata)
{
	struct scan scan = { .sampler = s, .handler = handler, .userdata = userdata };
	int r = handler(&(struct event){ .kind = EVENT_SCAN_BEGINS }, userdata);

	s->scanned_ns = clock_ns(CLOCK_MONOTONIC);
	s->lost_seen = count_lost_records(s);
	if (r >= 0 && !s->scanned)
		r = running_kernel_report(s->kernel, on_scanned, &scan);
	s->scanned = true;
	if (r >= 0)
		r = proc_scan_run(s->opener, &s->mappings, on_scanned, &scan);
	return r < 0 ? r : handler(&(struct event){ .kind = EVENT_SCAN_ENDS }, userdata);
}

static int scan_modules(struct sampler *s, sampler_handler handler, void *userdata)
{
	struct scan scan = { .sampler = s, .handler = handler, .userdata = userdata };

	s->modules_ns = clock_ns(CLOCK_MONOTONIC);
	return running_kernel_report_modules(s->kernel, on_scanned, &scan);
}

/* Counts a record that cannot be decoded, and goes on. */
static int deliver_record(const struct perf_event_header *record, void *userdata)
{
	const struct delivery *delivery = userdata;
	struct sampler *s = delivery->sampler;
	struct fault fault;
	struct event e;
	int r = decoder_decode(s->decoder, record, &e, &fault);

	if (r >= 0 && e.kind == EVENT_SAMPLE)
		r = live_sample_decode(&e);
	if (r >= 0 && e.kind == EVENT_MAPPING && e.mapping.executable)
		mappings_note(&s->mappings, e.pid, &e.mapping);
	if (r == -EBADMSG) {
		add(record->type == PERF_RECORD_SAMPLE ? &s->tally.undecodable : &s->tally.lost, 1);
		return 0;
	}
	if (r < 0)
		return r;
	if (e.kind == EVENT_LOST) /* of any kind: see count_lost_records() */
		add(&s->tally.lost, e.lost.n);
	if (e.kind == EVENT_THROTTLE)
		add(&s->tally.throttled, 1);
	return delivery->handler(&e, delivery->userdata);
}

static void end_delivery(struct sampler *s)
{
	atomic_store_explicit(&s->tally.out_of_order, drain_n_late(s->drain), memory_order_relaxed);
	mappings_tell(&s->mappings);
}

/* Whether records of tasks were lost since the last scan, so that processes may be wrong. */
static bool must_rescan(const struct sampler *s, uint64_t now)
{
	return now - s->scanned_ns >= RESCAN_NS && count_lost_records(s) > s->lost_seen;
}

int sampler_drain(struct sampler *sampler, sampler_handler handler, void *userdata)
{
	struct delivery delivery = { .sampler = sampler, .handler = handler, .userdata = userdata };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int r = 0;

	if (!sampler->scanned || must_rescan(sampler, now))
		r = scan_proc(sampler, handler, userdata);
	else if (now - sampler->modules_ns >= MODULES_NS)
		r = scan_modules(sampler, handler, userdata);
	if (r >= 0 && !sampler->started)
		r = cpus_start(sampler->cpus);
	if (r < 0)
		return r;
	sampler->started = true;
	r = cpus_follow(sampler->cpus);
	if (r >= 0)
		r = drain_run(sampler->drain, sampler->cpus, deliver_record, &delivery);
	end_delivery(sampler);
	return r;
}

int sampler_finish(struct sampler *sampler, sampler_handler handler, void *userdata)
{
	struct delivery delivery = { .sampler = sampler, .handler = handler, .userdata = userdata };
	int r;

	cpus_stop(sampler->cpus);
	r = drain_finish(sampler->drain, sampler->cpus, deliver_record, &delivery);
	end_delivery(sampler);
	return r;
}

int sampler_slow(struct sampler *sampler, uint32_t scale)
{
	return cpus_slow(sampler->cpus, scale);
}

void sampler_refuse(struct sampler *sampler, uint64_t cgroup, bool is_sample)
{
	add(&sampler->tally.refused, is_sample);
	if (cgroup != 0)
		program_refuse(sampler->program, cgroup);
}

void sampler_refuse_ticks(struct sampler *sampler, uint64_t n)
{
	add(&sampler->tally.refused_ticks, n);
}

struct ticks *sampler_ticks(const struct sampler *sampler)
{
	return sampler->ticks;
}

/* Samples due and not taken: the BPF programs count those by the clock, the kernel those of a PMU.
 */
static void count_skipped(const struct sampler *s, struct sampler_counts *sum)
{
	struct cpu_events_times times;
	uint64_t skipped = 0;

	for (uint32_t cpu = 0; cpu < program_n_cpus(s->program); cpu++)
		skipped += read_counter((const __u64 *)&program_counters(s->program, cpu)->skipped);
	cpus_get_times(s->cpus, &times);
	sum->skipped = times.missed + ((int64_t)skipped > 0 ? skipped : 0);
	sum->enabled_ns = times.enabled_ns;
	sum->running_ns = times.running_ns;
}

void sampler_get_counts(const struct sampler *sampler, struct sampler_counts *ret)
{
	const struct tally *t = &sampler->tally;
	uint64_t refused = get(&t->refused), refused_ticks = get(&t->refused_ticks);
	struct opener_counts opener = { 0 };
	struct sampler_counts c = { 0 };

	opener_get_counts(sampler->opener, &opener);
	program_add_counts(sampler->program, &c);
	count_skipped(sampler, &c);
	c.taken -= refused + refused_ticks;
	c.written -= refused;
	c.ticked -= refused_ticks;
	c.filtered += refused + refused_ticks;
	c.lost_records = count_lost_records(sampler);
	c.undecodable = get(&t->undecodable);
	c.throttled = get(&t->throttled);
	c.out_of_order = get(&t->out_of_order);
	c.openers_hung = opener.hung;
	c.phases_missed = cpus_phases_missed(sampler->cpus);
	c.n_cpus = cpus_n_open(sampler->cpus);
	*ret = c;
}

void sampler_get_run_time(const struct sampler *sampler, struct sampler_counts *ret)
{
	program_get_run_time(sampler->program, &ret->bpf_ns, &ret->bpf_runs);
}
